import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readStream } from '../../src/ops/read-stream.ts'
import { transact } from '../../src/ops/transact/transact.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { given, leased } from '../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { integrity } from '../unit/store/sqlite/support.ts'
import { type Ended, newUser, type Running, type User } from './program.ts'

/** The built program, stopped in the middle of its work. */

let user: User
let sqlite: StreamStore
let azurite: StreamStore & { container: string }
let proxy: FaultProxy
let killed: Awaited<ReturnType<typeof killTwo>>

beforeAll(async () => {
  user = await newUser()
  sqlite = await openStore(`sqlite:${join(user.home, 'streams.db')}`, {})
  const { port } = await sharedAzurite()
  azurite = await openAzuriteStore(port)
  proxy = await startFaultProxy({ target: { port } })
  killed = await killTwo()
})
afterAll(async () => {
  await proxy.stop()
  await Promise.all([sqlite.close(), azurite.close()])
  user.leave()
})

/** A fresh stream with two threads. */
async function newStream(store: StreamStore): Promise<string> {
  const stream = `s-${randomUUID()}`
  const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A' }, { name: 'B' }], hold: false } as const
  await transact(store, stream, { ...init, born: randomUUID() }, { commandId: 'init', by: 'test' })
  return stream
}

async function versions(store: StreamStore, stream: string): Promise<number[]> {
  return (await readStream(store, stream))?.transactions().map(({ version }) => version) ?? []
}

const throughProxy = (): string => `azurite://127.0.0.1:${proxy.port}/${azurite.container}`
const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1)

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s', (signal, code) => {
  test(`ends tail -f with ${code}`, async () => {
    const stream = await newStream(sqlite)
    const tail = user.start(['tail', '-f', stream, '--store', sqlite.address])
    await tail.until('stdout', /init/)
    tail.process.kill(signal)
    expect(await tail.ended).toMatchObject({ code, signal: null, stderr: '' })
  })

  test(`ends the wait for a lease with ${code}: nothing is changed, no lease is left`, async () => {
    for (const store of [sqlite, azurite]) {
      const stream = await newStream(store)
      const id = await leased(store, stream)
      const address = store === azurite ? throughProxy() : store.address
      const before = proxy.count('acquire')
      const set = ['event', 'set', stream, '00', '--tag', 'x', '--lease-wait', '50s', '-v', '-o', 'json']
      const change = user.start([...set, '--store', address])
      await change.until('stderr', /^store: /)
      while (store === azurite && proxy.count('acquire') < before + 2) await setTimeout(5)
      change.process.kill(signal)
      const { stdout, stderr, ...ended } = await change.ended
      expect({ ...ended, stdout }).toEqual({ code, signal: null, stdout: '' })
      expect(JSON.parse(stderr.split('\n').find(line => line.startsWith('{')) ?? '')).toMatchObject({
        error: { exit: code, applied: 'no', stream },
      })
      expect(await store.releaseLease(stream, id)).toMatchObject({ kind: 'ok' })
      expect((await store.read(stream))?.lease.state).toBe('available')
      expect(await versions(store, stream)).toEqual([1])
    }
  })
})

test('SIGINT lets a change in flight complete, and ends a batch after it', async () => {
  const streams = [await newStream(azurite), await newStream(azurite)]
  let batch: Running | undefined
  // The answer follows the signal by more time than a busy machine needs to deliver the signal.
  const interrupt = async () => {
    batch?.process.kill('SIGINT')
    await setTimeout(1_500)
  }
  proxy.add({ kind: 'delay', on: 'put', times: 1, before: interrupt })
  batch = user.start(['cancel', ...streams, '--concurrency', '1', '--store', throughProxy()])
  const { code, stdout, stderr } = await batch.ended
  expect(code).toBe(130)
  expect(stdout).toMatch(new RegExp(`${streams[0]} +✓ done`))
  expect(stderr).toMatch(
    /^run file \S+; --rerun does the rest\n1 done; 1 not started\nrun file: .*\nerror: interrupted: 1 of 2 not done/,
  )
  expect(await versions(azurite, streams[0] ?? '')).toEqual([1, 2])
  expect(await versions(azurite, streams[1] ?? '')).toEqual([1])
  for (const stream of streams) expect((await azurite.read(stream))?.lease.state).toBe('available')
})

test('a second SIGINT ends a change at once', async () => {
  const stream = await newStream(azurite)
  proxy.add({ kind: 'lose-request', on: 'acquire', times: 1, silent: true })
  const before = proxy.count('acquire')
  const change = user.start(['cancel', stream, '--store', throughProxy()])
  while (proxy.count('acquire') === before) await setTimeout(5)
  change.process.kill('SIGINT')
  change.process.kill('SIGTERM')
  expect([130, 143]).toContain((await change.ended).code)
  expect(await versions(azurite, stream)).toEqual([1])
})

describe('kill -9', () => {
  test('in a loop of changes of a SQLite file: all reported changes exist, none is partial', async () => {
    const stream = await newStream(sqlite)
    const script = `for n in {1..1000}; do leasectl event set ${stream} 00 --tag $n -q --store '${sqlite.address}' && echo $n; done`
    for (const reported of [2, 5]) {
      const loop = user.shell(script)
      await loop.until('stdout', new RegExp(`^${reported}$`, 'm'))
      // The shell first, so that it starts no further command; then its descendants, wherever they are.
      loop.process.kill('SIGKILL')
      for (const id of user.processesWith(`set ${stream}`)) killIfThere(id)
      const { stdout } = await loop.ended
      const view = await readStream(sqlite, stream)
      const told = Number(stdout.trim().split('\n').at(-1))
      expect(Number(view?.stream.root?.tag)).toBeGreaterThanOrEqual(told)
      expect(await versions(sqlite, stream)).toEqual(upTo(view?.document.version ?? 0))
    }
    expect(integrity(sqlite.address.slice('sqlite:'.length))).toBe('ok')
    const next = await user.run(['event', 'set', stream, '00', '--tag', 'next', '--store', sqlite.address])
    expect(next).toMatchObject({ code: 0, stderr: '' })
  })

  test('between acquire and Put: the stream is intact, and free again when the lease has expired', async () => {
    const { lost, landed } = killed
    for (const ended of await killed.next) expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(await versions(azurite, lost.stream)).toEqual([1, 2])
    expect(await versions(azurite, landed.stream)).toEqual([1, 2, 3])
    for (const [{ change, stream }, duplicate, version] of [
      [lost, false, 3],
      [landed, true, 2],
    ] as const) {
      const again = await user.run([...change, '-o', 'json', '--store', azurite.address])
      expect(JSON.parse(again.stdout)).toMatchObject({ duplicate, version })
      expect(await versions(azurite, stream)).toEqual([1, 2, 3])
    }
  }, 40_000)
})

describe('a reader that closes the pipe', () => {
  const SOME_PIPES = 200_000

  test('ends ls and tail without an error with 0', async () => {
    const store = await openStore(`sqlite:${join(user.home, 'many.db')}`, {})
    onTestFinished(() => store.close())
    for (let n = 100; n < 400; n++) await given(store, `${n}-${'x'.repeat(900)}`, '<Stream/>')
    const stream = await newStream(store)
    const tag = (n: number) => ({ op: 'set', event: '00', attributes: { tag: `${n}` } }) as const
    const one = (n: number) => transact(store, stream, tag(n), { commandId: `c${n}`, by: 'y'.repeat(150) })
    await Promise.all(Array.from({ length: 1_200 }, (_, n) => one(n)))
    for (const command of ['ls', 'ls -o json', `tail -n all ${stream}`, `tail -n all -o ndjson ${stream}`]) {
      const all = `leasectl ${command} --store '${store.address}'`
      const { stdout, stderr } = await user.shell(
        `${all} | head -n 1 | wc -l; echo "\${PIPESTATUS[0]}"; ${all} | wc -c`,
      ).ended
      const [lines, code, bytes] = stdout.trim().split('\n').map(Number)
      expect({ lines, code, stderr }).toEqual({ lines: 1, code: 0, stderr: '' })
      expect(bytes).toBeGreaterThan(SOME_PIPES)
    }
  })

  test('ends tail -f without an error with 0 at the next output', async () => {
    const stream = await newStream(sqlite)
    const tail = user.start(['tail', '-f', stream, '-n', 'all', '--interval', '10ms', '--store', sqlite.address])
    await tail.until('stdout', /init/)
    tail.process.stdout?.destroy()
    const set = user.run(['event', 'set', stream, '01.00', '--tag', 'x', '--store', sqlite.address])
    expect(await tail.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect((await set).code).toBe(0)
  })

  test('makes check fail', async () => {
    const check = user.start(['check', '--store', sqlite.address])
    check.process.stdout?.destroy()
    expect(await check.ended).toMatchObject({ code: 3, signal: null })
  })

  test('does not prevent a change, and does not alter its exit code', async () => {
    const stream = await newStream(sqlite)
    const set = (tag: string) => `leasectl event set ${stream} 00 --tag ${tag} --store '${sqlite.address}'`
    const { stdout, stderr } = await user.shell(
      `${set('a')} >&-; echo $?; ${set('b')} | true; echo "\${PIPESTATUS[0]}"; leasectl cancel nix ${stream} --store '${sqlite.address}' 2>/dev/null >&-; echo $?`,
    ).ended
    expect({ codes: stdout, stderr }).toEqual({ codes: '0\n0\n3\n', stderr: '' })
    expect(await versions(sqlite, stream)).toEqual([1, 2, 3])
  })
})

test.skipIf(process.platform !== 'linux')('unwritable output is reported; a change keeps its code', async () => {
  const stream = await newStream(sqlite)
  const store = `--store '${sqlite.address}'`
  const { stdout, stderr } = await user.shell(
    `leasectl event set ${stream} 00 --tag a ${store} >/dev/full; echo $?; leasectl show ${stream} ${store} >/dev/full; echo $?; leasectl export --all -o otlp ${store} >/dev/full; echo $?`,
  ).ended
  expect(stdout).toBe('0\n9\n9\n')
  expect(stderr).toBe('error: standard output cannot be written (ENOSPC)\n'.repeat(3))
  expect(await versions(sqlite, stream)).toEqual([1, 2])
})

function killIfThere(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

interface Killed {
  readonly stream: string
  /** The command line that was killed. */
  readonly change: readonly string[]
}

/** Two changes that were killed, and the outcomes of the next ones, which wait for the lease to end. */
async function killTwo(): Promise<{ lost: Killed; landed: Killed; next: Promise<Ended[]> }> {
  const [lost, landed] = await Promise.all([killAtPut('lose-request'), killAtPut('delay')])
  expect(await versions(azurite, lost.stream)).toEqual([1])
  const next = ({ stream }: Killed) =>
    user.run(['event', 'set', stream, '00', '--tag', 'next', '--lease-wait', '30s', '--store', azurite.address])
  return { lost, landed, next: Promise.all([next(lost), next(landed)]) }
}

/** Kills a change when its Put is at the proxy, which then forwards it or not. */
async function killAtPut(kind: 'delay' | 'lose-request'): Promise<Killed> {
  const stream = await newStream(azurite)
  const change = ['event', 'set', stream, '00', '--tag', 'killed', '--command-id', 'killed']
  let running: Running | undefined
  const kill = async () => {
    running?.process.kill('SIGKILL')
    await running?.ended
  }
  const before = proxy.injected.length
  proxy.add({ kind, when: ({ operation, target }) => operation === 'put' && target.includes(stream), before: kill })
  running = user.start([...change, '--store', throughProxy()])
  expect(await running.ended).toMatchObject({ code: null, signal: 'SIGKILL', stdout: '' })
  expect(proxy.injected.slice(before)).toContainEqual(expect.objectContaining({ kind }))
  expect((await azurite.read(stream))?.lease.state).toBe('leased')
  return { stream, change }
}
