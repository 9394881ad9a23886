import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFolders } from '../../../src/util/folders.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'leasectl-folders-'))
})
afterEach(() => {
  chmodSync(root, 0o700)
  rmSync(root, { recursive: true, force: true })
})

test('a folder and its missing parents are created, the outermost first', () => {
  const created: string[] = []
  createFolders(join(root, 'a', 'b', 'c'), { mode: 0o700, onCreated: path => created.push(relative(root, path)) })
  expect(created).toEqual(['a', join('a', 'b'), join('a', 'b', 'c')])
  expect(statSync(join(root, 'a', 'b')).mode & 0o777).toBe(0o700)
})

test('an existing folder is left as it is', () => {
  createFolders(root, {
    onCreated: () => {
      throw new Error('created')
    },
  })
})

test('a file in the way is an error', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => createFolders(join(root, 'file'))).toThrow(/EEXIST/)
  expect(() => createFolders(join(root, 'file', 'below'))).toThrow(/EEXIST|ENOTDIR/)
})

test.runIf(existsSync('/proc/self'))('a file system that takes no folders is an error, at any depth', () => {
  expect(() => createFolders('/proc/nope')).toThrow(/ENOENT/)
  expect(() => createFolders('/proc/nope/leasectl/runs')).toThrow(/ENOENT/)
})
