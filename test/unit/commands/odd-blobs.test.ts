import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { follow, worker } from '../../../src/index.ts'
import { followMany } from '../../../src/ops/follow/follow-many.ts'
import { openShards } from '../../../src/ops/shards/shards.ts'
import { readWatchdogState, WATCHDOG_STATE } from '../../../src/ops/watchdog-state/parse.ts'
import { StreamFault } from '../../../src/stream/errors.ts'
import { visibleText } from '../../../src/util/visible-text.ts'
import { ODD_BLOBS, type OddKind, type OddStore, openOddStore } from '../../support/odd-blobs.ts'
import { SOON } from '../store/azure/support.ts'
import { polling } from '../tui/data/support.ts'
import { cli, json, newWorld, type Ran, type World } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasectl-odd-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const GOOD = ['good/1', 'good/2'] as const
const KINDS = Object.keys(ODD_BLOBS) as OddKind[]

/** Each with a store of its own: changes of a command must not affect the next one. */
async function beside(
  kind: OddKind,
): Promise<{ odd: OddStore; world: World; run: (...argv: string[]) => Promise<Ran> }> {
  const odd = await openOddStore()
  const world = newWorld()
  world.nowMs = Date.now()
  const env = { PATH: process.env.PATH ?? '' }
  const run = (...argv: string[]) => cli(world, argv, { store: odd.store, env, signal: AbortSignal.timeout(30_000) })
  for (const name of GOOD) expect((await run('init', name, '--fork', 'Step')).exit).toBe(0)
  await odd.plant(kind, GOOD[0])
  return { odd, world, run }
}

/** The output on readable streams, and on unreadable ones. */
function expectAll({ stdout, stderr }: Ran, names: readonly string[]): void {
  for (const name of names) expect(stdout + stderr, name).toContain(visibleText(name))
}

describe.each(KINDS)('beside %s', kind => {
  const { code, names } = ODD_BLOBS[kind]
  /** A blob in the archive tier keeps its metadata: a listing still has its summary. */
  const isListed = kind === 'a blob in the archive tier'
  let odd: OddStore
  let run: (...argv: string[]) => Promise<Ran>

  beforeAll(async () => {
    ;({ odd, run } = await beside(kind))
  })
  afterAll(() => odd.end())

  test.each([['ls'], ['ls --sort modified'], ['ls --match **']])('%s has a row for each blob', async line => {
    const ran = await run(...line.split(' '))
    expect(ran.exit).toBe(0)
    expectAll(ran, [...GOOD, ...names])
    if (!isListed) expect(ran.stdout).toContain(`? ${code}`)
  })

  test('ls -o json gives the reason, and counts all of them', async () => {
    const { items, total } = json((await run('ls', '-o', 'json')).stdout) as {
      items: { name: string; error: { code: string } | null }[]
      total: number
    }
    expect(total).toBe(GOOD.length + names.length)
    const bad = items.filter(({ error }) => error !== null)
    expect(bad.map(({ name, error }) => [name, error?.code]).toSorted()).toEqual(
      isListed ? [] : names.map(name => [name, code]).toSorted(),
    )
  })

  test('ls -o yaml, ls --group-by and lease ls continue', async () => {
    expect((await run('ls', '-o', 'yaml')).stdout).toContain('good/2')
    expect((await run('ls', '--group-by', 'status')).stdout).toContain('inprocess')
    expect((await run('lease', 'ls')).exit).toBe(0)
  })

  test('check counts them, and doctor has a finding for each', async () => {
    const checked = await run('check', '-o', 'json')
    expect(checked.exit).toBe(isListed ? 0 : 1)
    const { checks } = json(checked.stdout) as { checks: { name: string; value: number }[] }
    expect(checks.find(({ name }) => name === 'unreadable')?.value).toBe(isListed ? 0 : names.length)
    const examined = await run('doctor', '--all')
    expect(examined.exit).toBe(code === 'bad-name' ? 0 : 7)
    expect(examined.stdout.split(`[${code}]`)).toHaveLength(names.length + 1)
    expect(examined.stdout).toContain(`${GOOD.length + names.length} streams examined`)
  })

  test.each([
    'stats --all',
    'log --all',
    'tail --match ** -n all',
    `export --all --to ${join(folder, String(KINDS.indexOf(kind)))}`,
  ])('%s processes the other streams, names the blobs and ends with 7', async line => {
    const ran = await run(...line.split(' '))
    expect(ran.exit).toBe(7)
    expectAll(ran, names)
    expect(ran.stdout).toContain(line.startsWith('stats') ? 'Step' : 'good/2')
    expect(ran.stdout + ran.stderr).toContain(`[${code}]`)
  })

  test('export -o otlp exports the other streams and counts the blobs', async () => {
    const ran = await run('export', '--all', '-o', 'otlp')
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toContain('good/2')
    expect(ran.stderr).toContain(`${GOOD.length} done, ${names.length} failed`)
  })

  test.each([
    'cancel --match **',
    'retry --match **',
    'ack --match ** -m seen',
    'rm --match **',
    'cancel --match ** -e 01.00',
  ])('the preview of %s has a row for each blob, with the reason', async line => {
    // the listing of an archived blob has its summary: it is found only when it is tried
    const isTried = isListed && !line.endsWith('-e 01.00')
    const text = await run(...line.split(' '), '--dry-run')
    expect(text.exit).toBe(0)
    const { stdout } = await run(...line.split(' '), '--dry-run', '-o', 'json')
    const { items } = json(stdout) as { items: { stream: string; error: { code: string } | null }[] }
    const bad = items.filter(({ error }) => error?.code === code).map(({ stream }) => stream)
    if (isTried) return expect(bad).toEqual([])
    expect(bad.toSorted()).toEqual([...names].toSorted())
    expect(text.stdout.split('\n').filter(row => row.trimEnd().endsWith(code))).toHaveLength(names.length)
  })

  test('show and a command on named streams process the other streams', async () => {
    if (code === 'bad-name') return expect((await run('show', 'good/1', names[0])).exit).toBe(2)
    const ran = await run('show', names[0], 'good/2')
    expect(ran.exit).toBe(12)
    expect(ran.stdout).toContain('good/2')
    expect(ran.stderr).toContain(`[${code}]`)
    expect((await run('cancel', names[0])).exit).toBe(12)
    expect((await run('export', names[0], '-o', 'xml')).exit).toBe(12)
  })

  test('names of a listing in --streams are each processed or reported', async () => {
    const world = newWorld()
    const stdin = (await run('ls', '-o', 'ndjson')).stdout
    const ran = await cli(world, ['log', '--streams', '-'], { store: odd.store, stdin })
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toContain('good/2')
    expect(ran.stderr).toContain(`[${code}]`)
  })

  test('import from such a store copies the other streams', async () => {
    const world = newWorld()
    const others = { 'azurite:odd': odd.store }
    const ran = await cli(world, ['import', 'azurite:odd'], { others })
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toContain(`[${code}]`)
    expect(await world.store.read('good/2')).toBeDefined()
  })

  test('cancel --all --dry-run shows all of them', async () => {
    const plain = await run('cancel', '--all', '--dry-run')
    expect(plain.exit).toBe(0)
    expectAll(plain, [...GOOD, ...names])
    const inside = await run('cancel', '--all', '-e', '01.00', '--dry-run')
    expect(inside.exit).toBe(0)
    expect(inside.stdout).toContain(code)
    expect(inside.stderr).toContain(`${names.length} not tried`)
  })

  test('completion offers the other streams', async () => {
    expect((await run('__complete', 'fish', '--', 'leasectl show good/')).stdout).toContain('good/2')
  })

  test('the dashboard lists all of them, is not stale, and shows activity', async () => {
    const [name] = names
    const demand = {
      streams: true,
      activity: true,
      watchdog: true,
      workers: true,
      subscriptions: true,
      inboxes: true,
      health: true,
      open: name,
      unread: [...names],
    }
    const { data, stop } = await polling(odd.store, demand)
    try {
      expect(data.freshness.error).toBeUndefined()
      expect([...data.streams.values()].map(entry => entry.name).toSorted()).toEqual([...GOOD, ...names].toSorted())
      expect(new Set(data.activity.items.map(({ stream }) => stream))).toEqual(new Set(GOOD))
      expect(data.open?.fault?.code).toBe(code)
      expect(data.open?.presence).toBe('unreadable')
      const faultOf = (one: string) => data.streams.get(one)?.item.fault?.code
      if (!isListed) await vi.waitFor(() => expect(names.map(faultOf)).toEqual(names.map(() => code)), SOON)
    } finally {
      await stop()
    }
  })

  test('commands that follow all streams report the rest, including a stream that appears meanwhile', async () => {
    const enough = new AbortController()
    const late = code === 'bad-name' ? ['late/'] : []
    const seen = new Set<string>()
    let looks = 0
    const options = { past: { latest: Number.POSITIVE_INFINITY }, intervalMs: 1, signal: enough.signal }
    for await (const item of followMany(odd.store, { kind: 'filter', filter: {} }, options)) {
      if (item.kind === 'unreadable') expect(item.code).toBe(code)
      if ('stream' in item) seen.add(item.stream)
      if (item.kind === 'polled' && looks++ === 0) for (const one of late) await odd.plant(kind, GOOD[0], [one])
      if (item.kind === 'polled' && [...GOOD, ...names, ...late].every(name => seen.has(name))) enough.abort()
    }
    expect([...seen].toSorted()).toEqual([...GOOD, ...names, ...late].toSorted())
    for (const one of late) await run('rm', '--blob', one, '--yes')
  })

  test('following such a stream with the library is an error of that stream, not of the store', async () => {
    const first = async () => follow(odd.store, names[0], { intervalMs: 1 }).next()
    await expect(first()).rejects.toBeInstanceOf(StreamFault)
  })
})

describe.each(KINDS)('changes beside %s', kind => {
  const { code, names } = ODD_BLOBS[kind]

  async function prepared() {
    const made = await beside(kind)
    onTestFinished(() => made.odd.end())
    return made
  }

  test('work takes the events of the other streams', async () => {
    const { run } = await prepared()
    const ran = await run('work', '--name', 'Step', '--until-empty', '--', 'true')
    expect(ran.stderr + ran.stdout).toContain(`[${code}]`)
    const listed = await run('ls', '--match', 'good/*', '-o', 'ndjson')
    for (const line of listed.stdout.trim().split('\n')) expect(json(line)).toMatchObject({ status: 'completed' })
  })

  test('a worker of the library continues to claim, and reports each blob once', async () => {
    const { odd } = await prepared()
    const drain = new AbortController()
    const done: string[] = []
    const faults: unknown[] = []
    await worker(
      odd.store,
      {
        name: 'Step',
        drain: drain.signal,
        observe: seen => {
          if (seen.kind === 'fault') faults.push(seen.error)
        },
      },
      async job => {
        done.push(job.stream)
        if (done.length === GOOD.length) drain.abort()
      },
    )
    expect(done.toSorted()).toEqual([...GOOD])
    for (const fault of faults) expect(fault).toBeInstanceOf(StreamFault)
  })

  test('cancel and wait process the other streams; a run file with such names can be read', async () => {
    const { run } = await prepared()
    const ran = await run('cancel', '--all', '--yes', '-o', 'json')
    expect(ran.exit).toBe(7)
    const { items, runFile } = json(ran.stdout) as { items: { stream: string; outcome: string }[]; runFile: string }
    expect(items.filter(({ outcome }) => outcome === 'done').map(({ stream }) => stream)).toEqual([...GOOD])
    expect(items.filter(({ outcome }) => outcome === 'failed')).toHaveLength(names.length)
    const again = await run('cancel', '--rerun', runFile, '--yes')
    expect(again.stdout + again.stderr).toContain(`[${code}]`)
    expect((await run('wait', '--match', 'good/*', '--for', 'done')).exit).toBe(0)
    if (code === 'bad-name') expect(await run('wait', '--all', '--for', 'done')).toMatchObject({ exit: 0 })
  })

  test('a watchdog pass succeeds', async () => {
    const { run } = await prepared()
    expect((await run('watchdog', '--once')).exit).toBe(0)
  })

  test('rm --blob removes only them, and a filter does not do so even with --force', async () => {
    const { run, odd } = await prepared()
    const blobs = names.flatMap(name => ['--blob', name])
    if (code === 'bad-name') {
      const forced = await run('rm', '--all', '--force', '--dry-run')
      expect(forced.stderr).toContain(`${names.length} not tried`)
    }
    const ran = await run('rm', ...blobs, '--yes', ...(code === 'bad-name' ? [] : ['--force']))
    expect(ran.exit).toBe(0)
    const left: string[] = []
    for await (const page of odd.store.list({})) left.push(...page.map(({ name }) => name))
    expect(left).toEqual([...GOOD])
  })
})

describe('an unreadable system document', () => {
  test('of watchdogs is damaged, with the reason', async () => {
    const { odd, run } = await beside('an append blob')
    onTestFinished(() => odd.end())
    await odd.plant('an append blob', GOOD[0], [WATCHDOG_STATE])
    expect(await readWatchdogState(odd.store)).toMatchObject({ watchdogs: [], damaged: true })
    expect((await run('watchdog', 'status')).stderr).toMatch(/state\.json cannot be read: its blob is an append blob/)
    expect((await run('check', '--match', 'good/*')).exit).toBeLessThan(3)
  })

  test('of memberships and shards is created again', async () => {
    const { odd } = await beside('an append blob')
    onTestFinished(() => odd.end())
    const base = '.leasectl/watchdog/shards/2'
    await odd.plant('an append blob', GOOD[0], [`${base}/0`, `${base}/1`, `${base}/seats/0`])
    const end = new AbortController()
    const held = Promise.withResolvers<readonly number[]>()
    const faults: unknown[] = []
    const shards = openShards(odd.store, {
      folder: '.leasectl/watchdog/shards',
      role: 'watchdog',
      count: 2,
      by: 'ada',
      newId: () => crypto.randomUUID(),
      changed: now => now.length === 2 && held.resolve(now),
      troubled: error => faults.push(error),
    })
    const running = shards.run(end.signal)
    expect(await held.promise).toEqual([0, 1])
    end.abort()
    await running
    expect(faults).toEqual([])
  })
})
