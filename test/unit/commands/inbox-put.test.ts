import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BlockLog } from '../../../src/store/block-log.ts'
import { StoreFull, StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { cli, json, newWorld, type Setting, type World } from './support.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-put-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const run = (world: World, line: string, setting?: Setting) => cli(world, line.split(' '), setting)

async function worldWithInbox(partitions = 2): Promise<World> {
  const world = newWorld()
  await run(world, `inbox create orders --partitions ${partitions}`)
  return world
}

async function recordsOf(world: World): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(world, 'inbox tail orders -n all -o ndjson')
  return stdout === '' ? [] : stdout.trimEnd().split('\n').map(json)
}

const idsOf = async (world: World) => (await recordsOf(world)).map(({ id }) => id).sort()

/** The store with appends that go through `append`. */
function withAppends(
  store: StreamStore,
  append: (real: BlockLog, block: Uint8Array, signal?: AbortSignal) => Promise<void>,
): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (key !== 'log') return typeof value === 'function' ? value.bind(target) : value
      return (name: string) => {
        const real = target.log(name)
        return {
          append: async (block: Uint8Array, signal?: AbortSignal) => {
            await append(real, block, signal)
            return { kind: 'appended' }
          },
        }
      }
    },
  })
}

describe('inbox put', () => {
  test('puts lines of standard input and of files, with ids and keys from JSON pointers', async () => {
    const world = await worldWithInbox()
    const files = { 'a.ndjson': '{"o":{"id":7},"c":"k1","n":1}\r\n\n{"o":{"id":"x"},"c":"k1","n":2}' }
    const ran = await run(world, 'inbox put orders a.ndjson - --id-field /o/id --key-field /c --seq-field /n', {
      files,
      stdin: '\ufeff{"o":{"id":"y"},"n":3}\n',
    })
    expect(ran).toMatchObject({ exit: 0, stdout: '✓ orders  3 records put\n' })
    const records = await recordsOf(world)
    expect(records.filter(({ key }) => key === 'k1')).toMatchObject([
      { id: '7', seq: 1, data: { n: 1 } },
      { id: 'x', seq: 2 },
    ])
    expect(records).toHaveLength(3)
  })

  test('reports bad lines with their numbers, keeps them, puts the others, and ends with 7', async () => {
    const world = await worldWithInbox()
    const long = `{"id":"z","x":"${'x'.repeat(270_000)}"}`
    const lines = ['{"id":"a"}', 'nonsense', '{"x":1}', '{"id":"b\\u0007"}', long, '{"id":{}}', '{"id":"b"}']
    const rejects = join(folder, 'bad.ndjson')
    const ran = await run(world, `inbox put orders a --rejects ${rejects}`, { files: { a: `${lines.join('\n')}\n` } })
    expect(ran).toMatchObject({ exit: 7, stdout: '✗ orders  2 records put, 5 bad lines\n' })
    for (const text of [
      'a:2: the record is not JSON',
      'a:3: /id is missing',
      'a:4: /id has a control',
      'a:5: ',
      'a:6: ',
    ])
      expect(ran.stderr).toContain(text)
    expect(readFileSync(rejects, 'utf8').split('\n').slice(0, 3)).toEqual(lines.slice(1, 4))
    expect(await idsOf(world)).toEqual(['a', 'b'])
    const again = await run(world, `inbox put orders --rejects ${rejects}`, { stdin: '{"id":"c"}\n' })
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('is there, and not empty') })
    expect(readFileSync(rejects, 'utf8').split('\n').slice(0, 3)).toEqual(lines.slice(1, 4))
    expect(await idsOf(world)).toEqual(['a', 'b'])
  })

  test('counts bad lines beyond the first twenty, and refuses bytes that are not UTF-8', async () => {
    const world = await worldWithInbox()
    const ran = await run(world, 'inbox put orders -o json', { stdin: 'x\n'.repeat(50) })
    expect(json(ran.stdout)).toMatchObject({ put: 0, rejected: 50, isComplete: true })
    expect(ran.stderr.match(/not JSON/g)).toHaveLength(20)
    const file = join(folder, 'latin1')
    const bytes = Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xe9]), Buffer.from('"}\n')])
    const setting = { files: { [file]: bytes as unknown as string } }
    expect((await run(world, `inbox put orders ${file}`, setting)).stderr).toContain('not UTF-8')
  })

  test('waits while the store is away, tells it once, and keeps the order of every key', async () => {
    const world = await worldWithInbox(1)
    let attempts = 0
    const store = withAppends(world.store, async (real, block) => {
      attempts += 1
      if (attempts > 1 && attempts < 4) throw new StoreUnreachable('no answer')
      await real.append(block)
    })
    const stdin = Array.from({ length: 100 }, (_, n) => `{"id":"${n}","key":"k"}\n`).join('')
    const ran = await run(world, 'inbox put orders --linger 0s', { store, stdin })
    expect(ran).toMatchObject({ exit: 0, stdout: '✓ orders  100 records put\n' })
    expect(ran.stderr.match(/waiting for the store/g)).toHaveLength(1)
    expect(ran.stderr).toContain('answers again')
    expect((await recordsOf(world)).map(({ id }) => Number(id))).toEqual(Array.from({ length: 100 }, (_, n) => n))
  })

  test('ends with the fault of a full disk, and says up to which line all is there', async () => {
    const world = await worldWithInbox(1)
    let attempts = 0
    const store = withAppends(world.store, async (real, block) => {
      if (++attempts > 1) throw new StoreFull('the disk is full')
      await real.append(block)
    })
    const stdin = Array.from({ length: 100 }, (_, n) => `{"id":"${n}"}\n`).join('')
    const ran = await run(world, 'inbox put orders --linger 0s', { store, stdin })
    expect(ran.exit).toBe(9)
    const [, upTo] = /up to line (\d+)/.exec(ran.stderr) ?? []
    expect(await recordsOf(world)).toHaveLength(Number(upTo))
  })

  test('goes on where an interrupted put of a file stopped', async () => {
    const world = await worldWithInbox(3)
    const resume = join(folder, 'progress')
    const files = {
      'a.ndjson': Array.from({ length: 300 }, (_, n) => `{"id":"${n}"}\n`).join(''),
      'b.ndjson': '{"id":"b"}\n',
    }
    const line = `inbox put orders a.ndjson b.ndjson --linger 0s --resume ${resume}`
    const stop = new AbortController()
    let appends = 0
    const store = withAppends(world.store, async (real, block) => {
      if (++appends === 20) stop.abort('SIGINT')
      await real.append(block)
    })
    expect((await run(world, line, { files, store, signal: stop.signal })).exit).toBe(130)
    const { bytes, put } = json(readFileSync(resume, 'utf8'))
    expect(put).toBeGreaterThan(0)
    expect(bytes).toBeGreaterThan(0)
    const before = await recordsOf(world)
    expect(before.length).toBeLessThan(300)
    const again = await run(world, line, { files })
    expect(again).toMatchObject({ exit: 0 })
    expect(again.stderr).toContain('going on behind line')
    expect(new Set(await idsOf(world)).size).toBe(301)
    // what was acknowledged is not put again
    expect((await recordsOf(world)).length).toBe(301)
    expect((await run(world, line, { files })).stderr).toContain('all was put before')
    expect((await recordsOf(world)).length).toBe(301)
  })

  /** A put of 300 records in blocks of one, which is stopped after some of them. */
  async function stopped(world: World, line: string, stop: (real: BlockLog) => Promise<void>, setting: Setting = {}) {
    let appends = 0
    const store = withAppends(world.store, async (real, block) => {
      if (++appends === 20) await stop(real)
      await real.append(block)
    })
    const a = Array.from({ length: 300 }, (_, n) => `{"id":"${n}"}\n`).join('')
    const ran = await run(world, line, { stdin: a, files: { a }, ...setting, store })
    return {
      exit: ran.exit,
      put: Number(json(ran.stdout).put),
      error: json(ran.stderr).error as { readonly message: string; readonly hint: string; readonly try: string | null },
    }
  }

  test.each([
    ['SIGINT', 'interrupted', 130],
    ['SIGTERM', 'terminated', 143],
  ] as const)(
    'that is stopped by %s says that records are put, how many, and how to go on',
    async (why, code, exit) => {
      for (const [files, hint] of [
        ['a', /All up to line \d+ of a is put. Put the same again: the id makes a record once. With --resume FILE/],
        [`a --resume ${join(folder, why)}`, /All up to line \d+ of a is put. The same command goes on there\.$/],
        ['-', /All up to line \d+ is put. Put the same again: the id makes a record once\.$/],
      ] as const) {
        const world = await worldWithInbox(1)
        const signal = new AbortController()
        const abort = async () => signal.abort(why)
        const line = `inbox put orders ${files} --linger 0s -o json`
        const ended = await stopped(world, line, abort, { signal: signal.signal })
        expect(ended).toMatchObject({ exit, error: { code, applied: 'yes', hint: expect.stringMatching(hint) } })
        expect(ended.put).toBeGreaterThan(0)
        expect(ended.put).toBeLessThan(300)
        expect(await recordsOf(world)).toHaveLength(ended.put)
        expect(ended.error.message).toBe(`${code}: ${ended.put} records are put`)
        expect(ended.error.try).toBe(files === '-' ? null : `leasectl ${line}`)
      }
    },
  )

  test('that fails says that records are put, that nothing is, or that this is not known', async () => {
    const line = 'inbox put orders --linger 0s -o json'
    const full = async () => {
      throw new StoreFull('the disk is full')
    }
    const some = await stopped(await worldWithInbox(1), line, full)
    expect(some).toMatchObject({ exit: 9, error: { code: 'store-full', applied: 'yes' } })
    expect(some.error.message).toBe(`the disk is full: ${some.put} records are put`)
    const world = await worldWithInbox(1)
    const none = await run(world, line, { store: withAppends(world.store, full), stdin: '{"id":"a"}' })
    expect(json(none.stderr).error).toMatchObject({ code: 'store-full', applied: 'no', message: 'the disk is full' })
    const signal = new AbortController()
    const away = async () => {
      signal.abort('SIGTERM')
      throw new StoreUnreachable('no answer')
    }
    const store = withAppends(world.store, away)
    const unsure = await run(world, line, { store, signal: signal.signal, stdin: '{"id":"a"}' })
    expect(json(unsure.stderr).error).toMatchObject({ code: 'terminated', applied: 'unknown', message: 'terminated' })
  })

  test('that is stopped while the store is silent gives up what is in flight before a supervisor would kill it', async () => {
    const world = await worldWithInbox(1)
    const stop = new AbortController()
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true })
    try {
      const silent = async (_: BlockLog, __: Uint8Array, signal?: AbortSignal) => {
        const over = new Promise(resolve => signal?.addEventListener('abort', resolve))
        stop.abort('SIGTERM')
        vi.advanceTimersByTime(7_400)
        expect(signal?.aborted).toBe(false)
        vi.advanceTimersByTime(200)
        await over
        throw new StoreUnreachable('no answer')
      }
      const setting = { store: withAppends(world.store, silent), signal: stop.signal, stdin: '{"id":"a"}' }
      const ran = await run(world, 'inbox put orders --linger 0s -o json', setting)
      expect(json(ran.stderr).error).toMatchObject({ code: 'terminated', applied: 'unknown' })
    } finally {
      vi.useRealTimers()
    }
  })

  test('of a second run counts as put what this run has put', async () => {
    const world = await worldWithInbox(1)
    const line = `inbox put orders a b --resume ${join(folder, 'progress')} -o json`
    await run(world, line, { files: { a: '{"id":"a"}\n' } })
    const again = await run(world, line, { files: { a: '' } })
    expect(json(again.stdout)).toMatchObject({ put: 1, isComplete: false })
    expect(json(again.stderr.split('\n').at(-2) ?? '').error).toMatchObject({ code: 'file-failed', applied: 'no' })
  })

  test('whose progress cannot be kept puts nothing', async () => {
    const world = await worldWithInbox(1)
    const ran = await run(world, `inbox put orders a --resume ${folder}/no/file -o json`, {
      files: { a: '{"id":"a"}' },
    })
    expect(ran.stdout).toBe('')
    expect(json(ran.stderr).error).toMatchObject({ code: 'file-failed', applied: 'no' })
    expect(await idsOf(world)).toEqual([])
  })

  test('does not go on with the progress of another put, or of standard input', async () => {
    const world = await worldWithInbox()
    const resume = join(folder, 'progress')
    const files = { a: '{"id":"a"}\n', b: '{"id":"b"}\n' }
    await run(world, `inbox put orders a --resume ${resume}`, { files })
    expect(await run(world, `inbox put orders b --resume ${resume}`, { files })).toMatchObject({ exit: 2 })
    writeFileSync(resume, '{"torn')
    expect(await run(world, `inbox put orders a --resume ${resume}`, { files })).toMatchObject({ exit: 2 })
    expect(await run(world, `inbox put orders --resume ${resume}`)).toMatchObject({ exit: 2 })
    expect(await idsOf(world)).toEqual(['a'])
  })

  test('does not go on in a file that has changed, in an inbox that was made again, or with other fields', async () => {
    const world = await worldWithInbox()
    const [resume, file] = [join(folder, 'progress'), join(folder, 'a.ndjson')]
    const ids = (letter: string, count: number) =>
      Array.from({ length: count }, (_, n) => `{"id":"${letter}${n}"}\n`).join('')
    const put = async (text: string, flags = '') => {
      writeFileSync(file, text)
      return run(world, `inbox put orders ${file} --resume ${resume}${flags}`, { files: { [file]: text } })
    }
    expect(await put(ids('a', 3))).toMatchObject({ exit: 0 })
    expect((await put(ids('a', 3))).stderr).toContain('all was put before')
    expect(await put(ids('b', 3))).toMatchObject({ exit: 2, stderr: expect.stringContaining('a.ndjson has changed') })
    expect(await put(ids('a', 2))).toMatchObject({ exit: 2, stderr: expect.stringContaining('a.ndjson has changed') })
    expect(await put(ids('a', 3), ' --id-field /x')).toMatchObject({ exit: 2 })
    await run(world, 'inbox rm orders --yes --force')
    world.nowMs += 1_000
    await run(world, 'inbox create orders --partitions 2')
    expect(await put(ids('a', 3))).toMatchObject({ exit: 2, stderr: expect.stringContaining('of another put') })
    expect(await idsOf(world)).toEqual([])
  })

  test('refuses to write bad lines into an input or the progress', async () => {
    const world = await worldWithInbox()
    const file = join(folder, 'a.ndjson')
    writeFileSync(file, '{"id":"a"}\n')
    const files = { [file]: '{"id":"a"}\n' }
    for (const flags of [
      `--rejects ${file}`,
      `--rejects ${folder}/./a.ndjson`,
      `--rejects ${folder}/p --resume ${folder}/p`,
    ])
      expect(await run(world, `inbox put orders ${file} ${flags}`, { files })).toMatchObject({ exit: 2, stdout: '' })
    expect(readFileSync(file, 'utf8')).toBe('{"id":"a"}\n')
    const full = await run(world, 'inbox put orders --rejects /dev/full', { stdin: 'no record\n' })
    expect(full).toMatchObject({ exit: 9, stderr: expect.stringContaining('/dev/full cannot be written (ENOSPC)') })
  })

  test('refuses files that are missing, wrong pointers, and an inbox that is not there', async () => {
    const world = await worldWithInbox()
    expect(await run(world, 'inbox put orders nowhere')).toMatchObject({ exit: 9 })
    expect(await run(world, 'inbox put orders --id-field id')).toMatchObject({ exit: 2 })
    expect(await run(world, 'inbox put orders --linger 11s')).toMatchObject({ exit: 2 })
    expect(await run(world, 'inbox put orders - -')).toMatchObject({ exit: 2 })
    expect(await run(world, 'inbox put others')).toMatchObject({ exit: 3 })
    expect(await run(world, `inbox put orders --rejects ${folder}/no/file`)).toMatchObject({ exit: 9 })
  })
})
