import { describe, expect, test } from 'vitest'
import { AUDIT_LOG, beginAuditEntry, readAuditLog } from '../../../src/ops/audit-log.ts'
import { NotPermitted, StoreFull } from '../../../src/store/errors.ts'
import { given, namesOf } from './batch/support.ts'
import { storeWith } from './store-with.ts'
import { cli, json, NOON, newWorld, type World } from './support.ts'

async function removed(...names: readonly string[]): Promise<World> {
  const world = newWorld()
  await given(world, names)
  const ran = await cli(world, ['rm', ...names, '--force', '--yes', '-m', 'wrong import', '--by', 'ops'])
  if (ran.exit !== 0) throw new Error(ran.stderr)
  return world
}

describe('rm', () => {
  test('a removal is an entry in the audit log: who, which, why, and what became of it', async () => {
    const world = await removed('a', 'b')
    expect(await readAuditLog(world.store, {})).toMatchObject([
      {
        ...{ op: 'rm', by: 'ops', host: 'testhost', why: 'wrong import', at: new Date(NOON).toISOString() },
        ...{ streams: 2, names: ['a', 'b'], end: { counts: { done: 2 } } },
      },
    ])
  })

  test('a batch is one entry, with the first names', async () => {
    const world = newWorld()
    const names = namesOf(60)
    await given(world, names)
    expect((await cli(world, ['rm', '--all', '--force', '--yes', '--expect', '60'])).exit).toBe(0)
    expect(await readAuditLog(world.store, {})).toMatchObject([{ streams: 60, names: names.slice(0, 20) }])
  })

  test('the entry is there before the first stream goes, so that a kill loses nothing', async () => {
    const world = newWorld()
    await given(world, ['a'])
    let seen: unknown
    const store = storeWith(world.store, {
      remove: async () => {
        seen = await readAuditLog(world.store, {})
        throw new Error('killed')
      },
    })
    await cli(world, ['rm', 'a', '--force', '--yes'], { store })
    expect(seen).toMatchObject([{ op: 'rm', names: ['a'], end: undefined }])
  })

  test('nothing is removed if the audit log cannot be written', async () => {
    const world = newWorld()
    await given(world, ['a'])
    const store = storeWith(world.store, {
      create: async () => {
        throw new NotPermitted('no right to write')
      },
    })
    const ran = await cli(world, ['rm', 'a', '--force', '--yes'], { store })
    expect(ran).toMatchObject({ exit: 4, stdout: '' })
    expect(ran.stderr).toContain('no right to write; nothing was changed')
    expect(await world.store.read('a')).toBeDefined()
  })

  test('a lease on the audit log makes a removal wait, and then refuses it', async () => {
    const world = await removed('a')
    await given(world, ['b'])
    const holder = { by: 'x', host: 'h', pid: 1, purpose: 'p', sinceMs: NOON }
    const leaseId = '11111111-1111-4111-8111-111111111111'
    await world.store.acquireLease(AUDIT_LOG, { leaseId, durationS: -1, holder })
    const store = storeWith(world.store, {
      update: (name, decide, options) => world.store.update(name, decide, { ...options, waitMs: 0 }),
    })
    const ran = await cli(world, ['rm', 'b', '--force', '--yes'], { store })
    expect(ran.exit).toBe(6)
    expect(ran.stderr).toContain('the audit log of the store is leased by another; nothing was changed')
    expect(await world.store.read('b')).toBeDefined()
  })

  test('a full store lets streams be removed without an entry, with a warning', async () => {
    const world = newWorld()
    await given(world, ['a'])
    const store = storeWith(world.store, {
      create: async () => {
        throw new StoreFull('no room left')
      },
    })
    const ran = await cli(world, ['rm', 'a', '--force', '--yes'], { store })
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toContain('not in the audit log: no room left')
  })

  test('a declined removal, a dry run and one of nothing leave no entry', async () => {
    const world = newWorld()
    await given(world, ['a'])
    await cli(world, ['rm', 'a', '--force'], { terminal: true, answer: 'n' })
    await cli(world, ['rm', 'a', '--force', '--dry-run'])
    await cli(world, ['rm', '--match', 'nothing/*', '--yes'])
    await cli(world, ['rm', 'a', '--yes'])
    expect(await readAuditLog(world.store, {})).toEqual([])
  })
})

describe('log --audit', () => {
  test('shows the entries as a table', async () => {
    const world = await removed('a', 'b', 'c')
    const ran = await cli(world, ['log', '--audit', '--time', 'utc'])
    expect(ran.exit).toBe(0)
    const [header = '', row = ''] = ran.stdout.split('\n')
    expect(header).toMatch(/^WHEN +WHO +WHAT +STREAMS +OUTCOME +REASON$/)
    expect(row).toMatch(/ops +rm +a b \+1 +3 done +wrong import$/)
  })

  test('says of a killed command that it has no end', async () => {
    const world = newWorld()
    await given(world, ['a'])
    let writes = 0
    const store = storeWith(world.store, {
      update: async (name, decide, options) => {
        if (name === AUDIT_LOG && ++writes > 1) throw new NotPermitted('killed')
        return world.store.update(name, decide, options)
      },
    })
    const ran = await cli(world, ['rm', 'a', '--force', '--yes'], { store })
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toContain('the audit log has no end of this command: killed')
    expect((await cli(world, ['log', '--audit'])).stdout).toContain('no end recorded')
  })

  test('does not say of a killed import that there were no streams: it had not read them yet', async () => {
    const world = newWorld()
    const at = new Date(world.nowMs).toISOString()
    const entry = { id: '1', at, by: 'ops', host: 'h', op: 'import', why: '', commandId: 'c', source: 'backup' }
    await beginAuditEntry(world.store, { ...entry, streams: undefined, names: [] }, { by: 'ops' })
    const { stdout } = await cli(world, ['log', '--audit'])
    expect(stdout).toMatch(/ ops +import +\? from backup +no end recorded$/m)
  })

  test('prints JSON and ndjson, the last N, and what the filters leave', async () => {
    const world = await removed('a')
    world.nowMs += 3_600_000
    await given(world, ['b'])
    await cli(world, ['rm', 'b', '--force', '--yes', '--by', 'bob'])
    const all = json((await cli(world, ['log', '--audit', '-o', 'json'])).stdout)
    expect(all).toMatchObject({
      items: [{ by: 'ops', op: 'rm', source: null }, { by: 'bob' }],
      total: 2,
      truncated: false,
    })
    const last = await cli(world, ['log', '--audit', '-n', '1', '-o', 'ndjson'])
    expect(json(last.stdout)).toMatchObject({ apiVersion: 'leasectl/v1', by: 'bob', why: null, names: ['b'] })
    expect((await cli(world, ['log', '--audit', '--since', '30m', '-o', 'ndjson'])).stdout).toBe(last.stdout)
    expect((await cli(world, ['log', '--audit', '--by', 'b*', '--op', 'rm', '-o', 'ndjson'])).stdout).toBe(last.stdout)
    const none = await cli(world, ['log', '--audit', '--op', 'import'])
    expect(none.stderr).toBe('no entries in the audit log\n')
  })

  test.each([
    [['s', '--audit'], '--audit takes no selection of streams'],
    [['--audit', '--failed'], '--audit takes no selection of streams'],
    [['--audit', '--all'], '--audit takes no selection of streams'],
    [['--audit', '--op', 'cancel'], '--op cancel: not in the audit log'],
    [['s', '--op', 'rm'], '--op rm: no journal has it'],
  ])('log %j is a usage error', async (argv, message) => {
    const ran = await cli(newWorld(), ['log', ...argv])
    expect(ran.exit).toBe(2)
    expect(ran.stderr).toContain(message)
  })

  test('makes control characters of a foreign entry visible', async () => {
    const world = newWorld()
    await given(world, ['a'])
    await cli(world, ['rm', 'a', '--force', '--yes', '-m', 'x'])
    const stored = await world.store.read(AUDIT_LOG)
    const body = Buffer.from(
      Buffer.from(stored?.body ?? [])
        .toString()
        .replace('"why":"x"', '"why":"\\u001b[2Jx"'),
    )
    const holder = { by: 'x', host: 'h', pid: 1, purpose: 'p', sinceMs: NOON }
    const summary = stored?.summary
    if (summary === undefined) throw new Error('no summary')
    await world.store.update(AUDIT_LOG, () => ({ kind: 'put', body, summary }), { waitMs: 0, holder })
    expect((await cli(world, ['log', '--audit'])).stdout).toContain('␛[2Jx')
  })
})
