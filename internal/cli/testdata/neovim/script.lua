-- What a person does in Neovim, with the keys in docs/editors.md. It waits for each effect and records what is visible.
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
