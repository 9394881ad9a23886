import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { includedIn, withFiles } from './included.ts'

const ROOT = new URL('../../', import.meta.url)
const REWRITE = process.env.LEASECTL_TEST_REWRITE_DOCS

const fileText = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')

describe('files that pages include', () => {
  const pages = readdirSync(new URL('docs/', ROOT)).filter(name => name.endsWith('.md'))
  const files = pages.flatMap(page => includedIn(fileText(`docs/${page}`)).map(included => ({ page, ...included })))

  test('are found', () => {
    expect(files.length).toBeGreaterThan(5)
  })

  test.each(files)('$page includes $path unchanged', ({ page, path, text }) => {
    if (REWRITE) writeFileSync(new URL(`docs/${page}`, ROOT), withFiles(fileText(`docs/${page}`), fileText))
    else expect(text).toBe(fileText(path).trimEnd())
  })

  test('every example is shown', () => {
    const shown = new Set(files.map(({ path }) => path))
    const examples = ['library', 'read-model', 'saga', 'workers'].flatMap(folder =>
      readdirSync(new URL(`examples/${folder}/`, ROOT)).map(name => `examples/${folder}/${name}`),
    )
    expect(examples.filter(path => !shown.has(path))).toEqual([])
  })
})

test('a file replaces the earlier content of a page', () => {
  const page = 'a\n<!-- file: x.ts -->\n```ts\nold\n```\nb'
  expect(withFiles(page, path => `new ${path}\nline\n`)).toBe('a\n<!-- file: x.ts -->\n```ts\nnew x.ts\nline\n```\nb')
  expect(includedIn(page)).toEqual([{ path: 'x.ts', text: 'old' }])
  expect(() => includedIn('<!-- file: x.ts -->\ntext')).toThrow('line 1')
})
