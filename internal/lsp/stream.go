package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// maxMessage limits the size of a message. A definition of the maximum size fits, with its line breaks escaped.
	maxMessage = 160 << 20

	// maxHeader limits the header of a message, which is two short lines.
	maxHeader = 4 << 10
)

// stream frames JSON-RPC messages as the Language Server Protocol does. Unlike the codec of package jsonrpc2, it
// survives invalid messages: the client gets an error, and the next message is read.
type stream struct {
	in  *bufio.Reader
	end func() // called at the end of input, before the connection is closed

	mu  sync.Mutex // guards out
	out io.Writer
}

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{in: bufio.NewReader(in), end: func() {}, out: out}
}

// WriteObject writes one message.
func (s *stream) WriteObject(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body))
	return err
}

// ReadObject reads the next valid message. An error means that the stream is unusable.
func (s *stream) ReadObject(message any) error {
	err := s.read(message)
	if err != nil {
		s.end()
	}
	return err
}

func (s *stream) read(message any) error {
	for {
		length, err := s.header()
		if err != nil {
			return err
		}
		if length > maxMessage {
			if _, err := io.CopyN(io.Discard, s.in, length); err != nil {
				return err
			}
			s.reject(jsonrpc2.CodeInvalidRequest, fmt.Sprintf("a message may have at most %d MiB", maxMessage>>20))
			continue
		}
		var body bytes.Buffer // grows with the data received, not with the announced length
		if _, err := io.CopyN(&body, s.in, length); err != nil {
			return err
		}
		if err := json.Unmarshal(body.Bytes(), message); err != nil {
			s.reject(jsonrpc2.CodeParseError, "the message is not JSON-RPC 2.0: "+err.Error())
			continue
		}
		return nil
	}
}

// reject responds to a message whose id is unknown.
func (s *stream) reject(code int64, text string) {
	s.WriteObject(map[string]any{
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": text},
	}) // if the client is gone, the next read fails as well
}

// header reads the header of a message and returns the length of its body.
func (s *stream) header() (int64, error) {
	length, read := int64(-1), 0
	for {
		line, err := s.in.ReadSlice('\n')
		if read += len(line); read > maxHeader || errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("the header of a message is longer than %d bytes", maxHeader)
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(text, ":")
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 63); err != nil || length < 0 {
				return 0, fmt.Errorf("Content-Length %q is not a length", value)
			}
		}
	}
	if length < 0 {
		return 0, errors.New("a message has no Content-Length")
	}
	return length, nil
}

// Close does nothing: the caller owns standard input and output.
func (s *stream) Close() error { return nil }
