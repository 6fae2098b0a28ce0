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

// neovimScript does what a person does in Neovim, with the keys in docs/editors.md. It waits for each effect and
// records what is visible.
const neovimScript = `
local seen = {}
local function finish(why)
  seen.failed = why
  local out = io.open(os.getenv('SEEN'), 'w')
  out:write(vim.fn.json_encode(seen))
  out:close()
  vim.cmd('qall!')
end
local function wait(what, condition)
  if not vim.wait(300000, condition, 20) then finish('timed out waiting for ' .. what) end
end
local function lines() return vim.api.nvim_buf_get_lines(0, 0, -1, false) end
local function find(text)
  for number, line in ipairs(lines()) do
    local column = line:find(text, 1, true)
    if column then return number, column - 1 end
  end
  finish('no line has ' .. text)
end
local function messages()
  local all = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(all, (d.lnum + 1) .. ':' .. (d.col + 1) .. '-' .. (d.end_col + 1) .. ' ' .. d.code .. ': ' .. vim.split(d.message, '\n')[1])
  end
  return all
end

vim.cmd('edit feeds.yaml')
wait('findings', function() return #vim.diagnostic.get(0) > 0 end)
seen.findings = messages()
seen.omnifunc = vim.bo.omnifunc -- what CTRL-X CTRL-O completes with

-- A quick fix, by the key that the user has mapped.
vim.ui.select = function(items, _, choose) choose(items[1]) end
vim.keymap.set('n', 'gf', vim.lsp.buf.code_action)
vim.api.nvim_win_set_cursor(0, { find('GET') })
vim.api.nvim_feedkeys('gf', 'x', false)
wait('the fix', function() return #vim.diagnostic.get(0) == 0 end)
seen.fixed = lines()[find('method:')]

-- Completion, in a file that does not parse while it is being typed.
local row = find('- limit')
vim.api.nvim_buf_set_lines(0, row, row, false, { '          - so' })
vim.api.nvim_win_set_cursor(0, { row + 1, 14 })
local params = vim.lsp.util.make_position_params()
params.position.character = 14 -- behind the last character, where the cursor is while one types
for _, response in pairs(vim.lsp.buf_request_sync(0, 'textDocument/completion', params, 300000) or {}) do
  seen.completion = {}
  for i = 1, 2 do table.insert(seen.completion, response.result.items[i].label) end -- the fields of a modifier follow
  for _, item in ipairs(response.result.items) do
    if item.label == 'sort' then vim.lsp.util.apply_text_edits({ item.textEdit }, 0, 'utf-16') end
  end
end
seen.completed = lines()[row + 1]

finish()
`

const neovimFeeds = `enable: [authentication]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20}
  sort: {kind: text, id: sort, name: Sort order, key: sort, label: Sort by}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/media:
        name: Média
        method: GET
        mime_type: application/json
        modifiers:
          - limit
      https://{{host}}/v1/news:
        name: News
        method: get
        mime_type: application/json
        modifiers: [limit, sort]
`

// TestNeovim uses the language server from a real editor, with the settings in docs/editors.md.
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
		"work/feeds.yaml":              neovimFeeds,
		"script.lua":                   neovimScript,
	} {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	cmd := exec.CommandContext(t.Context(), nvim, "--headless", "-c", "luafile "+filepath.Join(dir, "script.lua"))
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
