import { describe, expect, test } from 'vitest'
import { register } from '../../../src/commands/export.ts'
import { writeForeign } from '../ops/support.ts'
import { given, unreadable } from './batch/support.ts'
import { storeWith } from './store-with.ts'
import { bodyOf, cli, json, newWorld, optionsFrom, type World } from './support.ts'
import { filesIn, folder } from './transfer/support.ts'

async function withStreams(...names: string[]): Promise<World> {
  const world = newWorld()
  await given(world, names, ['A'])
  return world
}

test('argv → options', async () => {
  const argv = ['export', 'a', 'b', '-o', 'json', '--to', 'x', '--replace', '--skip-missing', '--concurrency', '4']
  expect(await optionsFrom(register, argv)).toEqual({
    names: ['a', 'b'],
    output: 'json',
    to: 'x',
    replace: true,
    skipMissing: true,
    concurrency: 4,
  })
  expect(await optionsFrom(register, ['export', '--all', '-o', 'otlp', '--endpoint', 'https://c'])).toEqual({
    names: [],
    all: true,
    output: 'otlp',
    endpoint: 'https://c',
  })
})

describe('one stream to stdout', () => {
  test('is the stored document, byte by byte', async () => {
    const world = await withStreams('s')
    await writeForeign(world.store, 's', '<EventStream', '<!-- ä -->\r\n<EventStream')
    expect(await cli(world, ['export', 's'])).toEqual({
      exit: 0,
      stdout: await bodyOf(world, 's'),
      stderr: '',
      questions: [],
    })
  })

  test('equals the JSON of show with the journal', async () => {
    const world = await withStreams('s')
    const shown = json((await cli(world, ['show', 's', '-o', 'json'])).stdout)
    const { transactions, born, ...rest } = json((await cli(world, ['export', 's', '-o', 'json'])).stdout)
    expect(rest).toEqual(shown)
    expect(born).toBe('b0')
    expect(transactions).toMatchObject([{ stream: 's', version: 1, op: 'init', by: 'tester' }])
  })

  test('is a Mermaid chart', async () => {
    expect((await cli(await withStreams('s'), ['export', 's', '-o', 'mermaid'])).stdout).toMatch(/^flowchart TD\n/)
  })

  test('may be selected by a filter; several are exit 2, none is exit 0 with a sentence', async () => {
    const world = await withStreams('a', 'b')
    expect((await cli(world, ['export', '--match', 'a'])).stdout).toBe(await bodyOf(world, 'a'))
    const several = await cli(world, ['export', '--all'])
    expect(several).toMatchObject({ exit: 2, stdout: '' })
    expect(several.stderr).toContain('--to FOLDER')
    const none = await cli(world, ['export', '--match', 'c'])
    expect(none).toMatchObject({ exit: 0, stdout: '', stderr: 'no matching streams in memory:\n' })
  })

  test('shows control characters visibly on a terminal', async () => {
    const world = await withStreams('s')
    await writeForeign(world.store, 's', '<EventStream', '<!-- \u009b31m -->\n<EventStream')
    const ran = await cli(world, ['export', 's'], { columns: 80 })
    expect(ran.stdout).toContain('\\u{9b}31m')
    expect(ran.stdout).not.toContain('\u009b')
  })

  test('that is unreadable is its unchanged bytes, and a sentence; other formats refuse it', async () => {
    const world = newWorld()
    await unreadable(world, 'bad')
    const xml = await cli(world, ['export', 'bad'])
    expect(xml).toMatchObject({ exit: 0, stdout: '<x' })
    expect(xml.stderr).toContain('as stored')
    for (const format of ['json', 'mermaid']) {
      expect(await cli(world, ['export', 'bad', '-o', format])).toMatchObject({ exit: 12, stdout: '' })
    }
  })

  test('larger than the limit of reading is refused: a store does not return all of it', async () => {
    const world = await withStreams('s')
    const store = storeWith(world.store, {
      read: async name => {
        const stored = await world.store.read(name)
        return stored && { ...stored, body: new Uint8Array(33 * 1024 * 1024) }
      },
    })
    const hint = expect.stringContaining('Download it with a tool of the store')
    expect(await cli(world, ['export', 's'], { store })).toMatchObject({ exit: 12, stdout: '', stderr: hint })
    // A part of it would look complete.
    for (const columns of [undefined, 80]) {
      const shown = await cli(world, ['show', 's', '-o', 'xml'], {
        store,
        ...(columns === undefined ? {} : { columns }),
      })
      expect(shown).toMatchObject({ exit: 12, stdout: '', stderr: hint })
      expect(shown.stderr).toContain('error: s: the document has more than')
    }
  })
})

test('all names are looked up first: a missing one is exit 3 and nothing is written', async () => {
  const world = await withStreams('a')
  const to = folder()
  const ran = await cli(world, ['export', 'a', 'nix', 'nada', '--to', to])
  expect(ran).toMatchObject({ exit: 3, stdout: '' })
  expect(ran.stderr).toContain('there is no stream nada')
  expect(filesIn(to)).toEqual([])
  const skipping = await cli(world, ['export', 'a', 'nix', '--to', to, '--skip-missing'])
  expect(skipping).toMatchObject({ exit: 0, stderr: 'skipped: there is no stream nix\n' })
  expect(filesIn(to)).toEqual(['a.xml'])
})

test.each([
  ['export', 'which streams'],
  ['export s --all', 'both select streams'],
  ['export s --to x.xml', '> x.xml'],
  ['export s -o json --to sqlite:x.db', 'cannot be written to a store'],
  ['export s -o chrome --to sqlite:x.db', 'cannot be written to a store'],
  ['export s --to memory:', 'gone when this command ends'],
  ['export s --to azure:x', 'azure:ACCOUNT/CONTAINER'],
  ['export s --replace', '--replace needs --to'],
  ['export s --to out --skip-existing', '--skip-existing needs --to'],
  ['export s --to out --dry-run', '--dry-run needs --to'],
  ['export s --to sqlite:x.db --replace --skip-existing', 'opposites'],
  ['export s --endpoint https://c', 'needs -o otlp'],
  ['export s -o otlp --endpoint https://c --to f', '--to does not go with --endpoint'],
  ['export s -o otlp --endpoint http://collector:4318', 'Use https'],
  ['export s -o otlp --endpoint ftp://collector', 'neither https nor http'],
  ['export s -o otlp --endpoint collector', 'not a URL'],
  ['export s -o otlp --endpoint https://u:p@c', 'OTEL_EXPORTER_OTLP_HEADERS'],
  ['export s -o otlp --endpoint https://c?key=1', 'OTEL_EXPORTER_OTLP_HEADERS'],
  ['export s --concurrency 65', '1 to 64'],
  ['export s -o yaml', 'xml, json, mermaid, chrome, otlp'],
])('%s is exit 2', async (line, hint) => {
  const ran = await cli(await withStreams('s'), line.split(' '))
  expect(ran).toMatchObject({ exit: 2, stdout: '' })
  expect(ran.stderr).toContain(hint)
})

test('a store that does not answer is exit 9', async () => {
  const { StoreUnreachable } = await import('../../../src/store/errors.ts')
  const world = await withStreams('s')
  const read = async () => Promise.reject(new StoreUnreachable('no route'))
  expect(await cli(world, ['export', 's'], { store: storeWith(world.store, { read }) })).toMatchObject({ exit: 9 })
})
