import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/doctor.ts'
import { BadName, ContainerMissing, NotPermitted, StoreUnreachable } from '../../../src/store/errors.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { documentText } from '../../support/stream-builder.ts'
import { cli, json, newWorld, optionsFrom, type World } from './support.ts'

test('argv → options', async () => {
  expect(await optionsFrom(register, ['doctor'])).toEqual({ names: [] })
  expect(await optionsFrom(register, ['doctor', 'a', 'b', '--read-only', '--deep', '-o', 'ndjson'])).toEqual({
    names: ['a', 'b'],
    readOnly: true,
    deep: true,
    output: 'ndjson',
  })
  expect(await optionsFrom(register, ['doctor', '--match', 'a/**', '--failed'])).toMatchObject({
    match: ['a/**'],
    failed: true,
  })
})

/** A stream as another program wrote it, with any content. */
async function given(world: World, name: string, body: string): Promise<void> {
  await cli(world, ['init', `${name}.ours`])
  const summary = (await world.store.read(`${name}.ours`))?.summary
  await world.store.remove(`${name}.ours`, {})
  if (summary === undefined) throw new Error('the memory store keeps summaries')
  await world.store.create(name, Buffer.from(body), summary)
}

const DANGLING = documentText({ id: '00', status: 'inprocess', next: '01.00' })

/** An intact stream, one with an error, an unreadable one. */
async function three(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 'orders/1', '--fork', 'A'])
  await given(world, 'orders/2', DANGLING)
  await given(world, 'orders/3', '<EventStream>\n<Event>')
  return world
}

function storeWith(world: World, methods: Partial<StreamStore>): StreamStore {
  return new Proxy(world.store, {
    get(target, key) {
      const value: unknown = Reflect.get(methods, key) ?? Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const failing = (error: Error) => async () => {
  throw error
}
const unlistable = (error: Error): Partial<StreamStore> => ({
  // biome-ignore lint/correctness/useYield: it fails before its first page
  async *list() {
    throw error
  },
})

describe('the store', () => {
  test('without a selection: the permissions, and how to examine streams', async () => {
    const ran = await cli(await three(), ['doctor'])
    expect(ran.exit).toBe(0)
    expect(ran.stdout).toMatch(/^store {2}memory:\n {2}✓ ok {7}list [\d.]+ ms, .*remove [\d.]+ ms \[rights\]\n/)
    expect(ran.stdout).toContain('[versions]\n\nno problems found\n')
    expect(ran.stderr).toBe('no streams examined; leasectl doctor --all examines them too\n')
  })

  test('is left as it was, and with --read-only gets no write', async () => {
    const world = newWorld()
    const created: string[] = []
    const store = storeWith(world, {
      create: (name, ...rest) => {
        created.push(name)
        return world.store.create(name, ...rest)
      },
    })
    await cli(world, ['doctor'], { store })
    expect(created).toHaveLength(1)
    expect(await world.store.read(created[0] ?? '')).toBeUndefined()
    const ran = await cli(world, ['doctor', '--read-only'], { store })
    expect(created).toHaveLength(1)
    expect(ran.stdout).toMatch(/list [\d.]+ ms, read [\d.]+ ms \[rights\]/)
  })

  test.each([
    ['refuses permissions', 4, new NotPermitted('no access')],
    ['does not answer', 9, new StoreUnreachable('no answer')],
    ['has no container', 3, new ContainerMissing('none')],
  ])('that %s gives exit code %i', async (_, exit, error) => {
    const world = await three()
    const ran = await cli(world, ['doctor', '--all'], { store: storeWith(world, unlistable(error)) })
    expect(ran.exit).toBe(exit)
    expect(ran.stdout).toContain(`✗ error    list: cannot list streams: ${error.message}`)
    expect(ran.stdout).toContain('0 streams examined; 1 error')
    expect(ran.stderr).toContain(`[${error.code}]`)
  })

  test('a missing container comes with the command that creates it', async () => {
    const world = newWorld()
    const ran = await cli(world, ['doctor'], { store: storeWith(world, unlistable(new ContainerMissing('none'))) })
    expect(ran.stdout).toContain('try  leasectl init STREAM --create-container')
  })

  test('needs no permission to list if streams are named', async () => {
    const world = await three()
    const serviceCode = 'AuthorizationPermissionMismatch'
    const store = storeWith(world, unlistable(new NotPermitted('no access', { serviceCode })))
    const ran = await cli(world, ['doctor', 'orders/2'], { store })
    expect(ran.exit).toBe(4)
    expect(ran.stdout).toContain('for a SAS with the permission l')
    expect(ran.stdout).toContain('[dangling-next]')
  })

  test('loses the probe on an interrupt, which is the exit code', async () => {
    const world = newWorld()
    const interruption = new AbortController()
    let name = ''
    const store = storeWith(world, {
      create: (...args) => {
        name = args[0]
        return world.store.create(...args)
      },
      acquireLease: async () => {
        interruption.abort('SIGINT')
        interruption.signal.throwIfAborted()
        throw new Error('not reached')
      },
    })
    const ran = await cli(world, ['doctor'], { store, signal: interruption.signal })
    expect(ran).toMatchObject({ exit: 130, stdout: '' })
    expect(name).not.toBe('')
    expect(await world.store.read(name)).toBeUndefined()
  })
})

describe('streams', () => {
  test('that are unreadable are a finding; the rest continues; errors end with 7', async () => {
    const ran = await cli(await three(), ['doctor', '--all'])
    expect(ran.exit).toBe(7)
    const [, ...streams] = ran.stdout.split('\nstream ')
    expect(streams.map(part => part.split('\n')[0])).toEqual(['orders/2', 'orders/3'])
    expect(streams[0]).toContain('✗ error    00: next names 01.00, which no event has')
    expect(streams[0]).toContain('try  leasectl cancel orders/2 --dry-run')
    expect(streams[1]).toMatch(/✗ error {4}the document cannot be read: line 2, column 1: .* \[unreadable\]/)
    expect(streams[1]).toContain('try  leasectl show orders/3 -o xml')
    expect(ran.stdout).toContain('\n3 streams examined; 2 errors')
    expect(ran.stderr).toContain('errors in 2 of 3 streams')
  })

  test('have findings whose command does what it says', async () => {
    const world = await three()
    expect((await cli(world, ['cancel', 'orders/2'])).exit).toBe(0)
    expect((await cli(world, ['doctor', 'orders/2'])).exit).toBe(0)
  })

  test.each([
    ['orders/1', 0, undefined],
    ['orders/2', 7, 'unsound'],
    ['orders/3', 12, 'bad-document'],
    ['gone', 3, 'stream-not-found'],
  ])('alone have an exit code of their own: %s ends with %i', async (name, exit, code) => {
    const ran = await cli(await three(), ['doctor', name])
    expect(ran.exit).toBe(exit)
    if (code !== undefined) expect(ran.stderr).toContain(`[${code}]`)
  })

  test('that do not exist are reported, and the others are examined', async () => {
    const ran = await cli(await three(), ['doctor', 'gone', 'orders/2'])
    expect(ran.exit).toBe(3)
    expect(ran.stdout).toContain('stream gone\n  ✗ error    no such stream [stream-not-found]')
    expect(ran.stdout).toContain('[dangling-next]')
  })

  test('that are named are reported as intact; of many only those with findings are', async () => {
    const world = await three()
    expect((await cli(world, ['doctor', 'orders/1'])).stdout).toContain(
      'stream orders/1\n  ✓ ok       no problems found',
    )
    expect((await cli(world, ['doctor', '--all'])).stdout).not.toContain('orders/1')
  })

  test('of a filter show infos with -v', async () => {
    const world = newWorld()
    await given(world, 'empty', '')
    const few = await cli(world, ['doctor', '--all'])
    expect(few.stdout).not.toContain('[not-started]')
    expect(few.stdout).toMatch(/\n1 stream examined; \d+ info \(-v shows them\)\n$/)
    const all = await cli(world, ['doctor', '--all', '-v'])
    expect(all.stdout).toContain('[not-started]')
    expect(all.stdout).not.toContain('-v shows them')
    expect((await cli(world, ['doctor', 'empty'])).stdout).toContain('[not-started]')
  })

  test('for filters that need the document are read once', async () => {
    const world = await three()
    let reads = 0
    const store = storeWith(world, {
      async *list(query) {
        for await (const page of world.store.list(query)) yield page.map(({ summary: _, ...listed }) => listed)
      },
      read: (name, signal) => {
        reads++
        return world.store.read(name, signal)
      },
    })
    const ran = await cli(world, ['doctor', '--status', 'inprocess', '--read-only', '-o', 'json'], { store })
    // The probe reads one too, and the state of the watchdogs is another.
    expect(reads).toBe(2 + 3)
    expect(json(ran.stdout)).toMatchObject({ examined: 2 })
  })

  test('under an invalid name are a finding; the rest continues', async () => {
    const world = await three()
    const store = storeWith(world, {
      async *list(query) {
        for await (const page of world.store.list(query)) yield page.flatMap(row => [{ ...row, name: 'folder/' }, row])
      },
      read: async name => {
        if (name === 'folder/') throw new BadName(name, 'it ends with "/"')
        return world.store.read(name)
      },
    })
    const ran = await cli(world, ['doctor', '--all'], { store })
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toContain('stream folder/\n  ! warning  not a valid stream name')
    expect(ran.stdout).toContain('[unreadable]')
  })

  test('that vanish between listing and reading are omitted', async () => {
    const world = await three()
    const store = storeWith(world, { read: async name => (name === 'orders/2' ? undefined : world.store.read(name)) })
    const ran = await cli(world, ['doctor', '--all', '-o', 'json'], { store })
    expect(json(ran.stdout)).toMatchObject({ examined: 2, complete: true })
  })

  test('are reported up to the point where the store fails, in a complete document that says so', async () => {
    const world = await three()
    const read: StreamStore['read'] = async name =>
      name === 'orders/3' ? failing(new StoreUnreachable('gone'))() : world.store.read(name)
    const ran = await cli(world, ['doctor', '--all', '-o', 'json'], { store: storeWith(world, { read }) })
    expect(ran.exit).toBe(9)
    expect(json(ran.stdout)).toMatchObject({ complete: false, streams: [{ stream: 'orders/2' }] })
  })

  test('that match nothing are not an error', async () => {
    expect(await cli(newWorld(), ['doctor', '--match', 'x/**'])).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('0 streams examined; no problems found'),
    })
  })
})

describe('machine-readable output', () => {
  test('-o json is one document: store, streams with findings, counts', async () => {
    const ran = await cli(await three(), ['doctor', '--all', '-o', 'json'])
    expect(json(ran.stdout)).toMatchObject({
      apiVersion: 'leasectl/v1',
      store: {
        address: 'memory:',
        kind: 'memory',
        facts: {},
        unknown: {},
        steps: [
          { name: 'list', outcome: 'ok', ms: expect.any(Number), code: null, message: null, hint: null },
          {},
          {},
          {},
          {},
          {},
          {},
        ],
        findings: [
          { severity: 'ok', code: 'rights' },
          { severity: 'ok', code: 'versions' },
        ],
      },
      streams: [
        {
          stream: 'orders/2',
          findings: expect.arrayContaining([
            {
              severity: 'error',
              code: 'dangling-next',
              subject: '00',
              message: expect.any(String),
              count: 1,
              hint: expect.any(String),
              try: 'leasectl cancel orders/2 --dry-run',
            },
          ]),
        },
        { stream: 'orders/3', findings: [{ code: 'unreadable', subject: null }] },
      ],
      examined: 3,
      complete: true,
      counts: { error: 2 },
    })
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'unsound', exit: 7, retryable: false } })
  })

  test('-o ndjson is a line for the store, for each stream with findings, and for the counts', async () => {
    const ran = await cli(await three(), ['doctor', '--all', '-o', 'ndjson'])
    const lines = ran.stdout.trimEnd().split('\n').map(json)
    expect(lines).toMatchObject([
      { apiVersion: 'leasectl/v1', record: 'store', kind: 'memory' },
      { apiVersion: 'leasectl/v1', record: 'stream', stream: 'orders/2' },
      { apiVersion: 'leasectl/v1', record: 'stream', stream: 'orders/3' },
      { apiVersion: 'leasectl/v1', record: 'summary', examined: 3, complete: true },
    ])
  })
})

test('texts of streams cannot control the terminal', async () => {
  const world = newWorld()
  const hostile = documentText(
    { id: '00', status: 'inprocess', next: '\u009b31m' },
    { id: '01\u202e', status: '\u009b2J', prev: '00', timeout: '\u0085', created: '\u009d0;x' },
  )
  await given(world, 'orders/1', hostile)
  const ran = await cli(world, ['doctor', 'orders/1', '--color', 'never'], { columns: 60 })
  expect(ran.stdout).toContain('\\u{9b}')
  expect(ran.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  const asJson = await cli(world, ['doctor', 'orders/1', '-o', 'json'])
  expect(asJson.stdout).not.toMatch(/[\u007f-\u009f\u202e]/)
})

test('long texts are folded on a terminal', async () => {
  const ran = await cli(await three(), ['doctor', 'orders/2', '--color', 'never'], { columns: 60 })
  expect(Math.max(...ran.stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(60)
})

test('the advice is printed once for many findings of a kind', async () => {
  const world = newWorld()
  const loose = ['01', '02', '03'].map(id => ({ id, status: 'init' }))
  await given(world, 'a', documentText({ id: '00', status: 'inprocess' }, ...loose))
  const { stdout } = await cli(world, ['doctor', 'a'])
  expect(stdout.match(/\[unreachable\]/g)).toHaveLength(3)
  expect(stdout.match(/It ends with the whole stream/g)).toHaveLength(1)
})

test('the help explains the exit code', async () => {
  const { stdout } = await cli(newWorld(), ['doctor', '--help'])
  expect(stdout).toContain('Exit: 0 without errors')
})

test('the check of a SQLite file that the single executable starts prints its faults as JSON', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-quick-check-'))
  try {
    const sound = join(folder, 'sound.db')
    const store = openSqliteStore(sound)
    await store.createContainer()
    await store.close()
    expect(await cli(newWorld(), ['__quick-check', sound])).toMatchObject({ exit: 0, stdout: '[]', stderr: '' })
    writeFileSync(join(folder, 'no.db'), 'no database at all')
    const { stdout } = await cli(newWorld(), ['__quick-check', join(folder, 'no.db')])
    expect(JSON.parse(stdout)).toEqual(['file is not a database'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a silent worker is found at once, and the advice only looks', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'Pay'])
  await cli(world, ['event', 'start', 's', '01.00', '--owner', 'pay-9', '--claim', '1m'])
  world.nowMs += 61_000
  const { stdout } = await cli(world, ['doctor', 's'])
  expect(stdout).toContain('"pay-9" has sent no heartbeat since its claim expired 1s ago [claim-expired]')
  expect(stdout).toMatch(/try {2}leasectl workers --waiting-on Pay$/m)
})
