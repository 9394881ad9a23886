import { readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fatesOf } from './watchdog/judge.ts'
import { plant } from './watchdog/planting.ts'
import { newWorld, rowsOf, type World } from './watchdog/world.ts'

/** A watchdog of the built program that cannot start: it reports the reason, ends, and has changed nothing. */

/** The time limit of a test on a busy machine. */
const LIMIT = { timeout: 90_000 }

let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(() => world.leave())

/** Writes a file into the user's home, the working directory of all commands. */
function file(name: string, text: string, mode = 0o644): void {
  writeFileSync(join(world.user.home, name), text, { mode })
}

describe.concurrent('invalid settings', LIMIT, () => {
  test.each<[flags: string[], says: RegExp]>([
    [['--once', '--listen', '127.0.0.1:0'], /--once takes no --listen: it stops after one pass/],
    [['--dry-run', '--on-failed', 'true'], /--dry-run takes no --on-failed: it changes nothing/],
    [['--interval', '100ms'], /the interval must be between 500ms and 24h/],
    [['--on-failed', './nowhere'], /--on-failed: ".\/nowhere": no such program/],
    [['--on-failed', './plain'], /--on-failed: ".\/plain": it cannot be executed/],
    [['--config', 'nowhere.yaml'], /--config nowhere.yaml/],
    [['--config', 'typo.yaml'], /typo.yaml.*2.*intervall/],
    [['--config', 'clash.yaml'], /500ms and 24h/],
  ])('%j', async (flags, says) => {
    file('plain', 'echo')
    file('typo.yaml', 'on-due: notify\nintervall: 5s\n')
    file('clash.yaml', 'interval: 10ms\n')
    const store = await world.sqlite()
    await plant(store, [{ stream: 'due', timeoutMs: 1 }])
    const before = rowsOf(store)
    const { code, stdout, stderr } = await world.user.run(['watchdog', ...flags, '--store', store.address])
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(says) })
    expect(rowsOf(store)).toEqual(before)
  })
})

describe.concurrent('an unavailable resource prevents the start:', LIMIT, () => {
  test('a port in use', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const store = await world.sqlite()
    await plant(store, [{ stream: 'due', timeoutMs: 1 }])
    const before = rowsOf(store)
    const { code, stderr } = await world.user.run([
      'watchdog',
      '--listen',
      `127.0.0.1:${port}`,
      '--store',
      store.address,
    ])
    other.close()
    expect({ code, stderr }).toEqual({
      code: 9,
      stderr: expect.stringContaining(`cannot listen on 127.0.0.1:${port}: the port is in use`),
    })
    expect(stderr).toContain('Choose another port, or 0 for any.')
    expect(rowsOf(store)).toEqual(before)
  })

  test('permissions that are missing from the first pass on', async () => {
    const { store, proxy, address } = await world.proxied()
    await plant(store, [{ stream: 'due', timeoutMs: 1 }])
    proxy.add({ kind: 'error-before', status: 403, on: 'list' })
    const { code, stderr } = await world.user.run(['watchdog', '--interval', '1s', '--store', address])
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringMatching(/^error: no access to container .*\[not-permitted\]$/m),
    })
    expect((await fatesOf(store, ['due'])).get('due')?.ends).toEqual([])
  })

  test('a missing container', async () => {
    const { proxy } = await world.proxied()
    const address = `azurite://127.0.0.1:${proxy.port}/nowhere`
    const { code, stderr } = await world.user.run(['watchdog', '--interval', '1s', '--store', address])
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/^error: there is no container nowhere on .*\[container-missing\]$/m),
    })
  })

  test('a file that is not a store', async () => {
    const text = 'this is no database, whatever its name says'
    file('none.db', text)
    const { code, stderr } = await world.user.run(['watchdog', '--store', 'sqlite:none.db'])
    expect({ code, stderr }).toEqual({ code: 12, stderr: expect.stringMatching(/error: .*none\.db/) })
    expect(readFileSync(join(world.user.home, 'none.db'), 'utf8')).toBe(text)
  })
})
