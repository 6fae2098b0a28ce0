package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// TestNeovim uses the language server from a real editor, with the settings in docs/editors.md, as testdata/neovim/script.lua
// says.
func TestNeovim(t *testing.T) {
	t.Parallel()
	nvim := testkit.Find(t, "nvim", "the language server in an editor")
	page := testkit.Read(t, filepath.Join(repo, "docs", "editors.md"))
	settings := regexp.MustCompile("(?ms)^```lua lua/signpost.lua\n(.*?)^```$").FindStringSubmatch(page)
	if settings == nil {
		t.Fatal("docs/editors.md has no settings for Neovim")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config/nvim/lua/signpost.lua": settings[1],
		"config/nvim/init.lua":         "require('signpost')\n",
		"work/feeds.yaml":              testkit.Read(t, "testdata/neovim/feeds.yaml"),
	} {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	cmd := exec.CommandContext(t.Context(), nvim, "--headless", "-c", "luafile "+testkit.Must(filepath.Abs("testdata/neovim/script.lua"))(t))
	cmd.Dir = filepath.Join(dir, "work")
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_DATA_HOME="+filepath.Join(dir, "data"),
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "SEEN="+filepath.Join(dir, "seen.json"))
	cmd.WaitDelay = time.Second
	printed, err := cmd.CombinedOutput()
	var seen map[string]any
	text, unread := os.ReadFile(filepath.Join(dir, "seen.json"))
	if err := errors.Join(err, unread, json.Unmarshal(text, &seen)); err != nil || seen["failed"] != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "cache", "nvim", "lsp.log"))
		t.Fatalf("nvim: %v\nseen so far: %s\nnvim said: %s\nits log: %s", err, text, printed, log)
	}
	testkit.Equal(t, "Neovim shows", seen, map[string]any{
		"findings":   []any{`10:17-20 method: method "GET" is not "get" or "post"`},
		"omnifunc":   "v:lua.vim.lsp.omnifunc",
		"fixed":      "        method: get",
		"completion": []any{"limit", "sort"},
		"completed":  "          - sort",
	})
}
