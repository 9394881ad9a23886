import { mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MAX_DATA_BYTES } from '../../../../src/stream/data.ts'
import { dataVariables, makeDataFiles, readResultFile } from '../../../../src/worker/program/data-files.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'leasectl-test-'))

test('the input is a file that only this user can read, and absent without an input', () => {
  const files = makeDataFiles(folder(), Buffer.from('in'))
  expect(readFileSync(files.input ?? '', 'utf8')).toBe('in')
  expect(statSync(files.input ?? '').mode & 0o777).toBe(0o600)
  expect(dataVariables(makeDataFiles(folder(), undefined)).LEASECTL_INPUT).toBeUndefined()
})

test('a result is what the program leaves: nothing, nothing in it, or bytes with their type', () => {
  const files = makeDataFiles(folder(), undefined)
  expect(readResultFile(files)).toBeUndefined()
  writeFileSync(files.result, '')
  expect(readResultFile(files)).toMatchObject({ size: 0, type: 'text/plain', text: '' })
  writeFileSync(files.result, '{"a":1}')
  expect(readResultFile(files)).toMatchObject({ type: 'application/json' })
  writeFileSync(files.resultType, 'text/x; charset=utf-8\n')
  expect(readResultFile(files)).toMatchObject({ type: 'text/x; charset=utf-8', text: '{"a":1}' })
  writeFileSync(files.resultType, '\n')
  expect(readResultFile(files)).toMatchObject({ type: 'application/json' })
})

test.each([
  [
    'more than 16 MiB',
    (path: string) => {
      writeFileSync(path, '')
      truncateSync(path, MAX_DATA_BYTES + 1)
    },
    'it has more than 16 MiB',
  ],
  ['a folder', (path: string) => mkdirSync(path), 'it is not a file any more'],
  ['a link', (path: string) => symlinkSync('/etc/passwd', path), 'a link was put in its place'],
  ['a dangling link', (path: string) => symlinkSync('/nowhere', path), 'a link was put in its place'],
])('%s is no result', (_, make, message) => {
  const files = makeDataFiles(folder(), undefined)
  make(files.result)
  expect(() => readResultFile(files)).toThrow(message)
})

test('an invalid media type is refused', () => {
  const files = makeDataFiles(folder(), undefined)
  writeFileSync(files.result, 'x')
  writeFileSync(files.resultType, 'nonsense')
  expect(() => readResultFile(files)).toThrow(/not a media type/)
})
