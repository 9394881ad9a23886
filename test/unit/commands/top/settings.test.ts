import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { settingsFile } from '../../../../src/commands/top/settings.ts'
import type { SavedView } from '../../../../src/tui/settings.ts'

const VIEW: SavedView = {
  screen: 'streams',
  filter: 'status:failing',
  onlyBroken: false,
  sort: { by: 'age', isDescending: true },
}

function newFile(text?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'leasectl', 'top.json')
  const write = (content: string) => {
    mkdirSync(join(folder, 'leasectl'), { recursive: true })
    writeFileSync(path, content)
  }
  if (text !== undefined) write(text)
  return {
    file: settingsFile({ env: { XDG_CONFIG_HOME: folder } }),
    path,
    write,
    text: () => readFileSync(path, 'utf8'),
  }
}

test('without a file there are no settings and no fault', () => {
  expect(newFile().file.read()).toEqual({ settings: { columns: {}, views: {} }, fault: undefined })
})

test('what is saved is read again, and nothing but the file stays in the folder', () => {
  const { file, path } = newFile()
  const saved = file.save({ views: { late: VIEW }, columns: { streams: ['NAME', 'DUE'] } })
  expect(file.read()).toEqual({ settings: saved, fault: undefined })
  expect(saved).toEqual({ views: { late: VIEW }, columns: { streams: ['NAME', 'DUE'] } })
  expect(readdirSync(join(path, '..'))).toEqual(['top.json'])
})

test('a change keeps what another dashboard saved meanwhile, and what this version does not know', () => {
  const { file, write, text } = newFile()
  file.save({ views: { mine: VIEW } })
  const before: { views: object } = JSON.parse(text())
  write(JSON.stringify({ ...before, colours: ['x'], views: { ...before.views, other: { ...VIEW, icon: '!' } } }))
  file.save({ views: { other: { ...VIEW, filter: 'b' } } })
  expect(JSON.parse(text())).toEqual({
    version: 1,
    colours: ['x'],
    views: { mine: VIEW, other: { ...VIEW, filter: 'b', icon: '!' } },
  })
})

test('undefined removes one value only', () => {
  const { file } = newFile()
  file.save({ views: { a: VIEW, b: VIEW } })
  expect(file.save({ views: { a: undefined } }).views).toEqual({ b: VIEW })
})

test('a damaged value is named, the others hold, and it stays in the file', () => {
  const content = { views: { bad: { screen: 5 }, good: VIEW }, columns: { streams: [1] } }
  const { file, text } = newFile(JSON.stringify(content))
  expect(file.read()).toMatchObject({
    settings: { views: { good: VIEW }, columns: {} },
    fault: expect.stringMatching(/columns\.streams, views\.bad cannot be used$/),
  })
  file.save({ views: { more: VIEW } })
  expect(JSON.parse(text())).toMatchObject(content)
})

test.each([
  ['no JSON', '{"views":', 'is not a JSON object'],
  ['a list', '[]', 'is not a JSON object'],
  ['a newer file', '{"version": 2}', 'written by a newer leasectl'],
])('%s is a fault, and is never overwritten', (_, content, why) => {
  const { file, text } = newFile(content)
  expect(file.read()).toMatchObject({ settings: { views: {} }, fault: expect.stringContaining(why) })
  expect(() => file.save({ views: { a: VIEW } })).toThrow(why)
  expect(text()).toBe(content)
})

test('names such as __proto__ and constructor are names like any other', () => {
  const { file } = newFile('{"views":{"__proto__":{"screen":"leases"}}}')
  file.save({ views: { constructor: VIEW } })
  expect(Object.keys(file.read().settings.views)).toEqual(['__proto__', 'constructor'])
})

test.skipIf(process.getuid?.() === 0)('a folder that takes no files is an error with the path', () => {
  const { file, path, write } = newFile()
  write('{}')
  chmodSync(join(path, '..'), 0o500)
  expect(() => file.save({ views: { a: VIEW } })).toThrow('top.json cannot be written (EACCES)')
})
