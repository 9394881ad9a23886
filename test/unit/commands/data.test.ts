import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DATA_PREFIX, dataName, listData, ORPHAN_AGE_MS, writeDataBytes } from '../../../src/ops/event-data.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { dataOf } from '../../../src/stream/data.ts'
import { writeForeign } from '../ops/support.ts'
import { cli, json, newWorld, type World } from './support.ts'

const LONG = 'abcdefghij'.repeat(1_000)
const FILES = { 'long.txt': LONG, over: 'x'.repeat(16 * 1024 * 1024 + 1) }

async function order(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B', '--join', 'J', '--data', '{"id":7}'])
  return world
}

async function dataNames(store: StreamStore): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of listData(store, DATA_PREFIX)) names.push(name)
  return names
}

async function withLongResult(): Promise<World> {
  const world = await order()
  await cli(world, ['event', 'complete', 's', '01.00', '--result', '@long.txt'], { files: FILES })
  return world
}

async function lifeOf(world: World, stream = 's') {
  return { stream, born: (await readStream(world.store, stream))?.document.born ?? '' }
}

describe('data on the command line', () => {
  test('is a text, a file or standard input, and is printed unchanged into a pipe', async () => {
    const world = await order()
    const advance = ['event', 'advance', 's', '01.00', '--next', 'A2', '--data', '@@home', '--result', '-']
    expect((await cli(world, [...advance, '--result-type', 'text/csv'], { stdin: 'a,b\r\n' })).exit).toBe(0)
    await cli(world, ['event', 'fail', 's', '02.00', '--result', '@long.txt'], { files: FILES })
    expect((await cli(world, ['event', 'data', 's', '01.00', '--result'])).stdout).toBe('a,b\r\n')
    expect((await cli(world, ['event', 'data', 's', '01.01', '--input'])).stdout).toBe('@home')
    expect((await cli(world, ['show', 's', '--data', '02.00'])).stdout).toBe(LONG)
    expect((await cli(world, ['show', 's', '--data', '00'])).stdout).toBe('{"id":7}')
    expect(json((await cli(world, ['show', 's', '--data', '02.00', '-o', 'json'])).stdout)).toMatchObject({
      kind: 'result',
      size: 10_000,
      text: LONG,
    })
    const events = json((await cli(world, ['show', 's', '-o', 'json'])).stdout).events as object[]
    expect(events[1]).toMatchObject({
      id: '01.00',
      input: null,
      result: { type: 'text/csv', size: 5, text: 'a,b\r\n' },
    })
    expect(events[2]).toMatchObject({ id: '02.00', result: { size: 10_000, text: null, base64: null } })
  })

  test('is listed with the results that an event works with', async () => {
    const world = await withLongResult()
    await cli(world, ['event', 'complete', 's', '02.00', '--result', 'b'])
    const { stdout } = await cli(world, ['event', 'data', 's', '01'])
    expect(stdout.split('\n').map(line => line.split(/ {2,}/).slice(0, 5))).toEqual([
      ['DATA', 'EVENT', 'NAME', 'TYPE', 'SIZE'],
      ['result', '01.00', 'A', 'text/plain', '9.8 KiB'],
      ['result', '02.00', 'B', 'text/plain', '1 B'],
      [''],
    ])
    expect((await cli(world, ['show', 's'])).stdout).toContain('input   00     Start  application/json')
    expect(await cli(world, ['event', 'data', 's', '02.00', '--input'])).toMatchObject({ exit: 3, stdout: '' })
  })

  test('with control characters is neutralised on a terminal, and bytes that are no text are left out', async () => {
    const world = await order()
    await cli(world, ['event', 'complete', 's', '01.00', '--result', '\u001b[31mred\u0007'])
    expect((await cli(world, ['event', 'data', 's', '01.00', '--result'], { columns: 80 })).stdout).toBe('␛[31mred␇\n')
    const life = await lifeOf(world)
    expect(life.born).not.toBe('')
  })

  test.each([
    [['--data', '@over'], /at most 16 MiB/],
    [['--data', '@nowhere'], /@nowhere cannot be read/],
    [['--data', '@'], /names no file/],
    [['--data', 'x', '--data-type', 'nonsense'], /not a media type/],
    [['--data-type', 'text/plain'], /--data-type needs --data/],
    [['--from', '-', '--data', '-'], /both read standard input/],
  ])('%j is refused, and nothing is written', async (flags, message) => {
    const world = newWorld()
    const ran = await cli(world, ['init', 't', ...flags], { files: FILES })
    expect(ran).toMatchObject({ exit: 2, stdout: '' })
    expect(ran.stderr).toMatch(message)
    expect(await world.store.read('t')).toBeUndefined()
    expect(await dataNames(world.store)).toEqual([])
  })

  test('- is refused on a terminal, and for two flags', async () => {
    const world = await order()
    const both = ['event', 'advance', 's', '01.00', '--next', 'N', '--data', '-', '--result', '-']
    expect((await cli(world, both)).stderr).toMatch(/both read standard input/)
    expect((await cli(world, ['init', 't', '--data', '-'], { terminal: true })).stderr).toMatch(/is a terminal/)
  })

  test('in a template is a text, JSON or Base64', async () => {
    const world = newWorld()
    const template =
      'root: R\ndata: { json: [1], type: a/b }\nfork: [{ name: X, data: hi }, { name: Y, data: { base64: AAE= } }]'
    expect((await cli(world, ['init', 't', '--from', 'f.yaml'], { files: { 'f.yaml': template } })).exit).toBe(0)
    const inputs = (await readStream(world.store, 't'))?.document.events.map(({ input }) => input)
    expect(inputs).toMatchObject([{ type: 'a/b', text: '[1]' }, { text: 'hi' }, { base64: 'AAE=' }])
    for (const bad of ['data: { text: a, json: 1 }', 'data: { base64: "%" }', 'data: { type: a/b }', 'data: [1]']) {
      expect((await cli(world, ['init', 'u', '--from', 'f.yaml'], { files: { 'f.yaml': bad } })).exit, bad).toBe(2)
    }
    const xml = '<S xmlns:lc="urn:leasectl:v1"><Event id="00" name="R">'
    const inline = dataOf(Buffer.from('hi'))
    const element = `<lc:input type="text/plain" bytes="2" sha256="${inline.sha256}" text="hi"/>`
    await cli(world, ['init', 'x', '--from', 'f.xml'], { files: { 'f.xml': `${xml}${element}</Event></S>` } })
    expect((await readStream(world.store, 'x'))?.document.events[0]?.input).toEqual(inline)
    const beside = element.replace(' text="hi"', '')
    const ran = await cli(world, ['init', 'y', '--from', 'f.xml'], {
      files: { 'f.xml': `${xml}${beside}</Event></S>` },
    })
    expect(ran.stderr).toMatch(/kept beside the document/)
  })
})

describe('data that is missing or damaged', () => {
  test('is an error of its own wherever it is read, and a finding of doctor', async () => {
    const world = await withLongResult()
    const [name = ''] = await dataNames(world.store)
    await world.store.remove(name, {})
    for (const line of ['event data s 01.00 --result', 'show s --data 01.00']) {
      const ran = await cli(world, line.split(' '))
      expect(ran).toMatchObject({ exit: 12, stdout: '' })
      expect(ran.stderr).toMatch(/is missing in the store.*\[data-missing\]/)
    }
    expect((await cli(world, ['show', 's'])).exit).toBe(0)
    const doctor = await cli(world, ['doctor', 's'])
    expect(doctor.stdout).toMatch(/data-missing/)
    expect(doctor.exit).toBe(12)
    await writeDataBytes(world.store, await lifeOf(world), dataOf(Buffer.from(LONG)), Buffer.from(LONG.toUpperCase()), {
      by: 'x',
    })
    expect((await cli(world, ['event', 'data', 's', '01.00', '--result'])).stderr).toMatch(/\[data-damaged\]/)
    expect((await cli(world, ['doctor', 's'])).stdout).not.toMatch(/data-damaged/)
    expect((await cli(world, ['doctor', 's', '--deep'])).stdout).toMatch(/data-damaged/)
  })

  test('that no event names is found after an hour, and removed by doctor --repair', async () => {
    const world = await withLongResult()
    const life = await lifeOf(world)
    const kept = await dataNames(world.store)
    for (const at of [life, { ...life, stream: 'gone' }]) {
      await writeDataBytes(world.store, at, dataOf(Buffer.alloc(5_000)), Buffer.alloc(5_000), { by: 'x' })
    }
    expect((await cli(world, ['doctor', '--all'])).stdout).not.toMatch(/no event names/)
    world.nowMs += ORPHAN_AGE_MS
    expect((await cli(world, ['doctor', '--all'])).stdout).toMatch(/2 pieces of data \(10 KiB\) that no event names/)
    expect((await cli(world, ['doctor', '--repair', '--read-only'])).exit).toBe(2)
    expect((await cli(world, ['doctor', '--repair'])).stdout).toMatch(/removed 2 pieces of data/)
    expect(await dataNames(world.store)).toEqual(kept)
    expect((await cli(world, ['doctor', '--all'])).stdout).not.toMatch(/no event names/)
  })

  test('goes with its stream', async () => {
    const world = await withLongResult()
    expect((await cli(world, ['rm', 's', '--force', '--yes'])).exit).toBe(0)
    expect(await dataNames(world.store)).toEqual([])
  })
})

const inFolder = async (work: (folder: string) => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-data-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('data of a kept signal', () => {
  async function withKeptSignal(): Promise<World> {
    const world = await order()
    await cli(world, ['signal', 's', 'paid', '--data', '@long.txt'], { files: FILES })
    return world
  }

  /** The next event takes the signal that waits. */
  const taken = async (world: World, stream = 's') => {
    await cli(world, ['event', 'advance', stream, '01.00', '--next', 'Ship', '--wait-for', 'paid'])
    return (await cli(world, ['event', 'data', stream, '01.01', '--input'])).stdout
  }

  test('is no orphan, and is there for the event that takes the signal later', async () => {
    const world = await withKeptSignal()
    const kept = await dataNames(world.store)
    expect(kept).toHaveLength(1)
    world.nowMs += 2 * ORPHAN_AGE_MS
    expect((await cli(world, ['doctor', '--repair'])).stdout).not.toMatch(/no event names/)
    expect(await dataNames(world.store)).toEqual(kept)
    expect(await taken(world)).toBe(LONG)
    expect((await cli(world, ['doctor', '--all', '--deep'])).stdout).not.toMatch(/data-/)
  })

  test('is found by doctor if it is missing or damaged, beside the document or in it', async () => {
    const world = await withKeptSignal()
    const [name = ''] = await dataNames(world.store)
    await world.store.remove(name, {})
    const missing = await cli(world, ['doctor', 's'])
    expect(missing).toMatchObject({ exit: 12 })
    expect(missing.stdout).toMatch(/the data of a kept signal \(text\/plain, 10000 bytes\) is missing in the store/)
    const other = Buffer.from(LONG.toUpperCase())
    await writeDataBytes(world.store, await lifeOf(world), dataOf(Buffer.from(LONG)), other, { by: 'x' })
    expect((await cli(world, ['doctor', 's', '--deep'])).stdout).toMatch(/data of a kept signal.*is damaged/)

    const inline = await order()
    await cli(inline, ['signal', 's', 'paid', '--data', 'approved'])
    await writeForeign(inline.store, 's', 'approved', 'rejected')
    expect((await cli(inline, ['doctor', 's'])).stdout).toMatch(/data of a kept signal.*is damaged/)
  })

  test('goes with its stream into a folder or another store, and is removed with it', () =>
    inFolder(async folder => {
      const world = await withKeptSignal()
      expect((await cli(world, ['export', 's'])).stderr).toMatch(/1 piece of data kept beside the document/)
      expect((await cli(world, ['export', 's', '--to', join(folder, 'out')])).exit).toBe(0)
      expect(readdirSync(join(folder, 'out')).sort()).toEqual(['s.data', 's.xml'])
      const other = newWorld()
      expect((await cli(other, ['import', join(folder, 'out'), '--prefix', 'p'])).exit).toBe(0)
      expect(await taken(other, 'p/s')).toBe(LONG)
      const file = join(folder, 'x.db')
      expect((await cli(world, ['export', 's', '--to', `sqlite:${file}`])).exit).toBe(0)
      const copy = openSqliteStore(file)
      expect(await dataNames(copy)).toEqual(await dataNames(world.store))
      await copy.close()
      expect((await cli(world, ['rm', 's', '--force', '--yes'])).exit).toBe(0)
      expect(await dataNames(world.store)).toEqual([])
    }))

  test('that is missing in the folder is refused by an import, and nothing is written', () =>
    inFolder(async folder => {
      const world = await withKeptSignal()
      await cli(world, ['export', 's', '--to', folder])
      rmSync(join(folder, 's.data'), { recursive: true })
      const other = newWorld()
      expect((await cli(other, ['import', folder])).exit).toBe(12)
      expect(await other.store.read('s')).toBeUndefined()
      expect(await dataNames(other.store)).toEqual([])
    }))
})

describe('data in exports and imports', () => {
  test('that a stream has lost is restored from a copy of an earlier state, and the stream stays', () =>
    inFolder(async folder => {
      const world = await withLongResult()
      await cli(world, ['export', 's', '--to', folder])
      expect((await cli(world, ['event', 'set', 's', '00', '--tag', 'later'])).exit).toBe(0)
      const later = (await world.store.read('s'))?.etag
      const [name = ''] = await dataNames(world.store)
      for (const flags of [[], ['--skip-existing']]) {
        await world.store.remove(name, {})
        const ran = await cli(world, ['import', folder, ...flags])
        expect(ran.stdout + ran.stderr).toMatch(/different content.*; 1 piece of its data restored/)
        expect((await cli(world, ['event', 'data', 's', '01.00', '--result'])).stdout).toBe(LONG)
        expect((await world.store.read('s'))?.etag).toBe(later)
      }
      expect((await cli(world, ['import', folder])).stderr).not.toContain('restored')
      // Without the data in the copy, the stream is left as any other that exists.
      await world.store.remove(name, {})
      rmSync(join(folder, 's.data'), { recursive: true })
      expect((await cli(world, ['import', folder, '--skip-existing'])).exit).toBe(0)
    }))

  test('is carried by folders and stores, under another name too', () =>
    inFolder(async folder => {
      const world = await withLongResult()
      expect((await cli(world, ['export', 's', '--to', join(folder, 'out')])).exit).toBe(0)
      expect(readdirSync(join(folder, 'out')).sort()).toEqual(['s.data', 's.xml'])
      expect((await cli(world, ['export', 's', '--to', join(folder, 'out')])).stdout).toMatch(/already/)
      const other = newWorld()
      expect((await cli(other, ['import', join(folder, 'out'), '--prefix', 'p'])).exit).toBe(0)
      expect((await cli(other, ['event', 'data', 'p/s', '01.00', '--result'])).stdout).toBe(LONG)
      const file = join(folder, 'x.db')
      expect((await cli(world, ['export', 's', '--to', `sqlite:${file}`])).exit).toBe(0)
      const copy = openSqliteStore(file)
      expect(await dataNames(copy)).toEqual(await dataNames(world.store))
      await copy.close()
    }))

  test('is not in a single file, which says so; its import needs --without-data', () =>
    inFolder(async folder => {
      const world = await withLongResult()
      const exported = await cli(world, ['export', 's'])
      expect(exported.stderr).toMatch(/1 piece of data kept beside the document: not in this file/)
      const file = join(folder, 's.xml')
      writeFileSync(file, exported.stdout)
      const other = newWorld()
      expect(await cli(other, ['import', file])).toMatchObject({ exit: 12 })
      expect(await other.store.read('s')).toBeUndefined()
      expect((await cli(other, ['import', file, '--without-data'])).exit).toBe(0)
      expect((await cli(other, ['event', 'data', 's', '01.00', '--result'])).exit).toBe(12)
      // The store that has the data needs no other copy of it.
      await world.store.remove('s', {})
      expect((await cli(world, ['import', file])).exit).toBe(0)
      expect((await cli(world, ['event', 'data', 's', '01.00', '--result'])).stdout).toBe(LONG)
    }))

  test('that is damaged in the folder is refused, and missing data is healed by an import', () =>
    inFolder(async folder => {
      const world = await withLongResult()
      await cli(world, ['export', 's', '--to', folder])
      const [name = ''] = await dataNames(world.store)
      await world.store.remove(name, {})
      expect((await cli(world, ['import', folder])).stdout).toMatch(/already/)
      expect((await cli(world, ['event', 'data', 's', '01.00', '--result'])).stdout).toBe(LONG)
      const file = join(folder, 's.data', name.slice(name.lastIndexOf('/') + 1))
      writeFileSync(file, readFileSync(file, 'utf8').toUpperCase())
      const ran = await cli(newWorld(), ['import', folder])
      expect(ran.exit).not.toBe(0)
      expect(`${ran.stdout}${ran.stderr}`).toMatch(/damaged in the source/)
    }))

  test('of a stream that is replaced by another one is removed; a refused import leaves none', () =>
    inFolder(async folder => {
      const world = await withLongResult()
      await cli(world, ['export', 's', '--to', folder])
      const other = newWorld()
      await cli(other, ['init', 's', '--data', '@f'], { files: { f: 'z'.repeat(5_000) } })
      const before = await dataNames(other.store)
      expect((await cli(other, ['import', folder])).exit).toBe(5)
      expect(await dataNames(other.store)).toEqual(before)
      expect((await cli(other, ['import', folder, '--replace', '--yes'])).exit).toBe(0)
      expect(await dataNames(other.store)).toEqual([dataName(await lifeOf(other), dataOf(Buffer.from(LONG)))])
    }))
})
