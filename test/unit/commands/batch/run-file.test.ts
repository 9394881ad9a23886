import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { HOLDER, run } from '../../ops/support.ts'
import { cli, json, newWorld, STATE_HOME, statuses, type World } from '../support.ts'
import { before, given, linesOf, namesOf, runFileOf, runFiles } from './support.ts'

const LEASE = '11111111-1111-4111-8111-111111111111'
const folder = mkdtempSync(join(tmpdir(), 'leasectl-runs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const items = (text: string) => json(text).items as Record<string, unknown>[]

/** An unfinished batch: b is leased by another. */
async function half(argv: readonly string[] = ['-m', 'wrong import', '--by', 'ops']) {
  const world = newWorld()
  await given(world, ['a', 'b', 'c'], ['A'])
  await world.store.acquireLease('b', { leaseId: LEASE, durationS: -1, holder: HOLDER })
  const ran = await cli(world, ['cancel', '--all', '--yes', '--lease-wait', '0s', ...argv])
  return { world, ran, path: runFileOf(ran) }
}

const free = (world: World) => world.store.releaseLease('b', LEASE)

let files = 0
function fileOf(text: string): string {
  const path = join(folder, `run-${files++}`)
  writeFileSync(path, text)
  return path
}

describe('a run file', () => {
  test('has a header, each target, and each outcome as it arrived', async () => {
    const { path } = await half()
    expect(path).toMatch(/leasectl\/runs\/20260301T120000Z-cancel-[0-9a-f]{8}\.ndjson$/)
    const [head, ...rest] = linesOf(path)
    expect(head).toEqual({
      apiVersion: 'leasectl/v1',
      record: 'run',
      verb: 'cancel',
      store: 'memory:',
      startedAt: '2026-03-01T12:00:00.000Z',
      by: 'ops',
      reason: 'wrong import',
      commandId: expect.any(String),
      events: [],
      force: false,
      canceled: false,
      stop: false,
      blobs: [],
      staleMs: null,
      periodS: null,
      leaseWaitMs: 0,
      write: null,
      ifVersion: null,
      concurrency: null,
      rate: null,
      skipMissing: false,
      noCompensate: false,
      signal: null,
      every: false,
      input: null,
      rerunOf: null,
      total: 3,
    })
    expect(rest.slice(0, 3)).toMatchObject(
      ['a', 'b', 'c'].map(stream => ({ record: 'target', stream, event: null, version: 1, born: 'b0' })),
    )
    const outcomes = Object.fromEntries(rest.slice(3).map(line => [line.stream, line]))
    expect(outcomes).toMatchObject({
      a: { record: 'outcome', outcome: 'done', code: null, version: 2, commandId: `${head?.commandId}/a` },
      b: { outcome: 'busy', code: 'lease-held', version: null, message: expect.stringContaining('leased by another') },
      c: { outcome: 'done' },
    })
  })

  test('cannot be read, nor its folder listed, by other users', async () => {
    const { path } = await half()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  })

  test('has the targets before anything is changed', async () => {
    const world = newWorld()
    await given(world, ['a', 'b'])
    const known = new Set(runFiles())
    let seen: Record<string, unknown>[] = []
    const store = before(world.store, 'update', name => {
      const [own = ''] = runFiles().filter(file => !known.has(file))
      if (name === 'a') seen = linesOf(join(STATE_HOME, 'leasectl', 'runs', own))
    })
    await cli(world, ['cancel', '--all', '--yes'], { store })
    expect(seen.map(({ record, stream }) => [record, stream])).toEqual([
      ['run', undefined],
      ['target', 'a'],
      ['target', 'b'],
    ])
  })

  test('is also written for a batch of one that a filter found; not for one stream by name nor an empty selection', async () => {
    const world = newWorld()
    await given(world, ['a', 'b'])
    const known = runFiles().length
    await cli(world, ['cancel', 'a'])
    await cli(world, ['cancel', '--match', 'nix'])
    await cli(world, ['cancel', '--all', '--dry-run'])
    expect(runFiles()).toHaveLength(known)
    const ran = await cli(world, ['cancel', '--match', 'b', '--yes', '-o', 'json'])
    expect(runFiles()).toHaveLength(known + 1)
    expect(json(ran.stdout).runFile).toBe(runFileOf(ran))
    expect(items(ran.stdout)).toMatchObject([{ commandId: expect.stringMatching(/\/b$/) }])
  })

  test('that cannot be written prevents the change, exit 2', async () => {
    const world = newWorld()
    await given(world, ['a', 'b'])
    const env = { XDG_STATE_HOME: fileOf('a file, not a folder') }
    const ran = await cli(world, ['cancel', 'a', 'b', '-o', 'json'], { env })
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'run-file', applied: 'no', hint: /XDG_STATE_HOME/ } })
    expect(await statuses(world, 'a')).toEqual({ '00': 'inprocess' })
  })

  test.skipIf(process.platform !== 'linux' || process.getuid?.() === 0)('fails in a read-only folder', async () => {
    const world = newWorld()
    await given(world, ['a', 'b'])
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o500)
    expect((await cli(world, ['cancel', 'a', 'b'], { env: { XDG_STATE_HOME: closed } })).exit).toBe(2)
  })
})

/** The texts that files are told to append. */
async function appends() {
  const handle = await open(fileOf(''))
  const prototype: FileHandle = Object.getPrototypeOf(handle)
  await handle.close()
  const append = vi.spyOn(prototype, 'appendFile')
  onTestFinished(() => append.mockRestore())
  return append
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}

test('a run file is complete when the command ends, however slow its disk is', async () => {
  const append = await appends()
  const written: string[] = []
  append.mockImplementation(async text => {
    await turns()
    written.push(String(text))
  })
  const world = newWorld()
  await given(world, namesOf(20))
  expect((await cli(world, ['cancel', '--all', '--yes'])).exit).toBe(0)
  const lines = written.join('').trimEnd().split('\n').map(json)
  expect(lines.filter(({ record }) => record === 'outcome')).toHaveLength(20)
  // texts that arrive during a write go out together
  expect(written.length).toBeLessThan(10)
})

describe('a full disk', () => {
  const noSpace = Object.assign(new Error('no space left'), { code: 'ENOSPC' })

  async function withWrites(works: number) {
    const write = (await appends()).mockRejectedValue(noSpace)
    for (let at = 0; at < works; at++) write.mockResolvedValueOnce()
    const world = newWorld()
    await given(world, ['a', 'b', 'c'])
    const store = before(world.store, 'update', turns)
    return { world, ran: await cli(world, ['cancel', '--all', '--yes', '--concurrency', '1', '-o', 'json'], { store }) }
  }

  test('at the beginning prevents the change, exit 9', async () => {
    const known = runFiles()
    const { world, ran } = await withWrites(0)
    expect(runFiles()).toEqual(known)
    expect(ran).toMatchObject({ exit: 9, stdout: '' })
    expect(json(ran.stderr)).toMatchObject({ error: { code: 'run-file', applied: 'no', retryable: true } })
    expect(await statuses(world, 'a')).toEqual({ '00': 'inprocess' })
  })

  test('in the middle is reported once, and the batch continues', async () => {
    const { ran } = await withWrites(1)
    expect(ran.exit).toBe(0)
    expect(items(ran.stdout)).toHaveLength(3)
    expect(ran.stderr.match(/can no longer be written \(ENOSPC\); the batch continues/g)).toHaveLength(1)
  })
})

describe('--rerun', () => {
  test('repeats undone changes with the same ids and reason, as a batch of its own', async () => {
    const { world, path } = await half()
    await free(world)
    const ran = await cli(world, ['cancel', '--rerun', path, '--yes', '-o', 'json'])
    expect(ran.exit).toBe(0)
    const commandId = linesOf(path)[0]?.commandId
    expect(items(ran.stdout)).toMatchObject([
      { stream: 'b', outcome: 'done', commandId: `${commandId}/b`, reason: 'wrong import' },
    ])
    expect((await cli(world, ['tail', 'b', '-n', '1'])).stdout).toContain('ops  "wrong import"')
    expect(linesOf(runFileOf(ran))[0]).toMatchObject({ commandId, rerunOf: path, by: 'ops', total: 1 })
  })

  test('has preview and prompt like a list', async () => {
    const { world, path } = await half()
    await free(world)
    expect((await cli(world, ['cancel', '--rerun', path])).exit).toBe(2)
    const preview = await cli(world, ['cancel', '--rerun', path, '--dry-run'])
    expect(preview.stdout).toMatch(/^NAME.*\nb +▶ inprocess/)
    const ran = await cli(world, ['cancel', '--rerun', path], { terminal: true, answer: 'y' })
    expect(ran).toMatchObject({ exit: 0, questions: ['This cancels 1 stream in memory:. Continue? [y/N] '] })
    expect(ran.stderr).toContain('1 stream left of a run with 3 targets')
  })

  test('with --only repeats these outcomes, and always targets not started', async () => {
    const { world, path } = await half()
    const again = async (file: string, only: string) => {
      const ran = await cli(world, ['cancel', '--rerun', file, '--only', only, '--dry-run', '-o', 'json'])
      return items(ran.stdout).map(({ stream }) => stream)
    }
    expect(await again(path, 'changed')).toEqual([])
    expect(await again(path, 'busy,changed')).toEqual(['b'])
    expect(await again(path, 'done')).toEqual(['a', 'c'])
    const killed = fileOf(readFileSync(path, 'utf8').replace(/.*"outcome","stream":"c".*\n/, ''))
    expect(await again(killed, 'changed')).toEqual(['c'])
  })

  test('says already for a change that was in fact done, although the stream is final now', async () => {
    const { world, path } = await half()
    const lost = fileOf(readFileSync(path, 'utf8').replace(/.*"outcome".*\n/g, ''))
    await free(world)
    const ran = await cli(world, ['cancel', '--rerun', lost, '--yes', '-o', 'json'])
    expect(ran.exit).toBe(0)
    expect(items(ran.stdout)).toMatchObject([
      { stream: 'a', outcome: 'already', duplicate: true },
      { stream: 'b', outcome: 'done' },
      { stream: 'c', outcome: 'already', duplicate: true },
    ])
  })

  test('takes new preconditions: a stream changed since is changed from its present state', async () => {
    const { world, path } = await half()
    await free(world)
    await run(world.store, 'b', { op: 'set', event: '00', attributes: { tag: 'new' } })
    const ran = await cli(world, ['cancel', '--rerun', path, '--yes', '-o', 'json'])
    expect(items(ran.stdout)).toMatchObject([{ stream: 'b', outcome: 'done', version: 3 }])
  })

  test('leaves another stream of the same name alone', async () => {
    const { world, path } = await half()
    await free(world)
    await world.store.remove('b', {})
    await cli(world, ['init', 'b'])
    const ran = await cli(world, ['cancel', '--rerun', path, '--yes', '-o', 'json'])
    expect(ran.exit).toBe(5)
    expect(items(ran.stdout)).toMatchObject([{ stream: 'b', outcome: 'changed' }])
    expect(await statuses(world, 'b')).toEqual({ '00': 'inprocess' })
    // its run file still refers to the earlier stream
    const once = await cli(world, ['cancel', '--rerun', runFileOf(ran), '--yes', '-o', 'json'])
    expect(items(once.stdout)).toMatchObject([{ stream: 'b', outcome: 'changed' }])
    expect(await statuses(world, 'b')).toEqual({ '00': 'inprocess' })
  })

  test('recognizes by identity a stream that was refused at the preview', async () => {
    const world = newWorld()
    await given(world, ['a', 'b'])
    const ran = await cli(world, ['rm', 'a', 'b', '--yes'])
    await world.store.remove('a', {})
    await cli(world, ['init', 'a'])
    const again = await cli(world, ['rm', '--rerun', runFileOf(ran), '--force', '--yes', '-o', 'json'])
    expect(items(again.stdout)).toMatchObject([
      { stream: 'a', outcome: 'changed' },
      { stream: 'b', outcome: 'done' },
    ])
    expect(await statuses(world, 'a')).toEqual({ '00': 'inprocess' })
  })

  test('repeats undone events, each of its stream', async () => {
    const world = newWorld()
    await given(world, ['a', 'b'], ['A', 'B'])
    await world.store.acquireLease('b', { leaseId: LEASE, durationS: -1, holder: HOLDER })
    const ran = await cli(world, ['abort', 'a', 'b', '-e', '01.00', '-e', '02.00', '--lease-wait', '0s'])
    await free(world)
    const path = fileOf(
      readFileSync(runFileOf(ran), 'utf8').replace(/.*"outcome","stream":"a","event":"02.00".*\n/, ''),
    )
    const again = await cli(world, ['abort', '--rerun', path, '--yes', '-o', 'json'])
    expect(items(again.stdout).map(({ stream, event, outcome }) => [stream, event, outcome])).toEqual([
      ['a', '02.00', 'already'],
      ['b', '01.00', 'done'],
      ['b', '02.00', 'done'],
    ])
  })

  test('says in a sentence if nothing is left: exit 0', async () => {
    const world = newWorld()
    await given(world, namesOf(2))
    const path = runFileOf(await cli(world, ['cancel', '--all', '--yes']))
    const ran = await cli(world, ['cancel', '--rerun', path, '-o', 'json'])
    expect(ran.exit).toBe(0)
    expect(json(ran.stdout)).toMatchObject({ items: [], total: 0 })
    expect(ran.stderr).toContain('nothing selected')
  })

  test('reports a removed stream as missing: exit 3, unless --skip-missing', async () => {
    const { world, path } = await half()
    await free(world)
    await world.store.remove('b', {})
    expect((await cli(world, ['cancel', '--rerun', path, '--yes'])).exit).toBe(3)
  })
})

describe('a run file that does not fit is refused:', () => {
  test('for another command or another store', async () => {
    const { world, path } = await half()
    await free(world)
    const other = await cli(world, ['abort', '--rerun', path, '--yes'])
    expect(other).toMatchObject({ exit: 2, stdout: '' })
    expect(other.stderr).toContain('is a run of another command: cancel')
    const elsewhere = fileOf(readFileSync(path, 'utf8').replace('"memory:"', '"sqlite:/other.db"'))
    const ran = await cli(world, ['cancel', '--rerun', elsewhere, '--yes'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('another store, sqlite:/other.db')
    expect((await statuses(world, 'b'))['00']).toBe('inprocess')
  })

  test('a last line that a kill truncated counts as not written', async () => {
    const { world, path } = await half()
    await free(world)
    appendFileSync(path, '{"apiVersion":"leasectl/v1","record":"outcome","stream":"b","eve')
    expect((await cli(world, ['cancel', '--rerun', path, '--yes'])).exit).toBe(0)
  })

  test('a truncated list of targets: that run had changed nothing', async () => {
    const { world, path } = await half()
    const cut = fileOf(readFileSync(path, 'utf8').split('\n').slice(0, 3).join('\n'))
    const ran = await cli(world, ['cancel', '--rerun', cut, '--yes'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('ends after 2 of 3 targets')
  })

  test.each([
    ['an empty file', ''],
    ['a file that is not JSON', 'orders/1\n'],
    ['a listing', '{"apiVersion":"leasectl/v1","name":"a"}\n'],
    ['a header without its fields', '{"record":"run","verb":"cancel"}\n'],
    [
      'a reason that XML cannot hold',
      '{"record":"run","verb":"cancel","store":"memory:","by":"a","commandId":"c","reason":"\\u0007","events":[],"total":0}',
    ],
    [
      'an invalid command id',
      '{"record":"run","verb":"cancel","store":"memory:","by":"a","commandId":"c d","events":[],"total":0}',
    ],
    [
      'a reserved name',
      '{"record":"run","verb":"cancel","store":"memory:","by":"a","commandId":"c","events":[],"total":1}\n{"record":"target","stream":".leasectl/x"}',
    ],
    [
      'a target without a name',
      '{"record":"run","verb":"cancel","store":"memory:","by":"a","commandId":"c","events":[],"total":1}\n{"record":"target"}',
    ],
  ])('%s', async (_what, text) => {
    const ran = await cli(newWorld(), ['cancel', '--rerun', fileOf(text), '--yes'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('is not a run file')
  })

  test.each(['/nix/run.ndjson', '/dev/zero', tmpdir()])('%s cannot be read', async path => {
    const ran = await cli(newWorld(), ['cancel', '--rerun', path, '--yes'])
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toContain('cannot be read')
  })
})
