import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { cli, newWorld } from '../support.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-missing-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each(['--once', '--dry-run'])('watchdog %s on a missing file reports a mistyped path', async flag => {
  const path = join(folder, 'no.db')
  const store = openSqliteStore(path)
  const { exit, stdout, stderr } = await cli(newWorld(), ['watchdog', flag], { store })
  expect([exit, stdout]).toEqual([3, ''])
  expect(stderr).toContain(`there is no store at sqlite:${path}: the file does not exist (yet)`)
  expect(stderr).toContain('container-missing')
  expect(existsSync(path)).toBe(false)
})

test.each(['--once', '--dry-run'])('watchdog %s on a store without streams does not', async flag => {
  const store = openSqliteStore(join(folder, 'store.db'))
  await store.createContainer()
  expect((await cli(newWorld(), ['watchdog', flag], { store })).exit).toBe(0)
  await store.close()
})

test('a permanent watchdog warns in its log that the path may be wrong, and waits for the file', async () => {
  const path = join(folder, 'later.db')
  const stop = new AbortController()
  stop.abort('SIGTERM')
  const { stderr } = await cli(newWorld(), ['watchdog'], { store: openSqliteStore(path), signal: stop.signal })
  const warnings = stderr.split('\n').filter(line => line.includes('is the path right?'))
  expect(warnings).toEqual([expect.stringContaining(`sqlite:${path}: the file does not exist (yet)`)])
  expect(warnings[0]).toMatch(/"level":"?(warn|40)/)
})
