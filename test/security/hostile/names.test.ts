import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../guarantees/size.ts'
import { Random } from '../../simulation/random.ts'
import { cli, newWorld } from '../../unit/commands/support.ts'
import { filesIn, folder } from '../../unit/commands/transfer/support.ts'
import { type Cli, escapesOf, snapshot, storeOf } from './names-world.ts'
import { STRANGE_NAMES } from './strange-names.ts'

const row = trustRow('names')
const FILE = 'test/security/hostile/names.test.ts'
const SEED = trustSeed(1)

const FORMATS = sized(['xml'], ['xml', 'json', 'mermaid'])

async function exportAll(names: readonly string[], target: string, run: Cli = cli) {
  const { store } = await storeOf(names, run)
  const exits: number[] = []
  for (const format of FORMATS) {
    const ran = await run(newWorld(), ['export', '--all', '-o', format, '--to', target], { store })
    exits.push(ran.exit)
  }
  return exits
}

test('no name creates a file outside the target folder of an export', { timeout: 120_000 }, async () => {
  const { target, changed } = await escapesOf(STRANGE_NAMES, to => exportAll(STRANGE_NAMES, to))
  expect(changed).toEqual([])
  const made = filesIn(target)
  // each name has a file of its own for each format, except names that are too long for the file system
  expect(made.length).toBeGreaterThan((STRANGE_NAMES.length - 4) * FORMATS.length)
  expect(made.filter(file => file.split('/').some(part => part === '..' || part.endsWith('.tmp')))).toEqual([])
  row.figure('names', STRANGE_NAMES.length + MUTATED)
  row.figure('files outside the target', changed.length, '0')
  row.injected('files that were made', made.length)
})

const MUTATED = sized(100, 5_000)

test('nor do names that combine parts of them', { timeout: sized(60_000, 900_000) }, async () => {
  const parts = STRANGE_NAMES.filter(name => name.length < 20) as [string, ...string[]]
  const names = Array.from({ length: MUTATED }, (_, at) => {
    const random = new Random(`names ${SEED + at}`)
    const pieces = Array.from({ length: random.whole(2, 5) }, () => random.pick(parts))
    return pieces.join(random.pick(['/', '', '\\', '%2f', '/../']))
  })
  const { changed } = await escapesOf(names, to => exportAll([...new Set(names)], to))
  expect(changed, repeatWith(FILE, SEED)).toEqual([])
})

test('links planted in the target do not lead out of it', { timeout: 120_000 }, async () => {
  let planted = 0
  const { changed } = await escapesOf(STRANGE_NAMES, async (target, around) => {
    const elsewhere = join(around, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'precious'), 'precious')
    const before = snapshot(elsewhere)
    // a link for each file and each folder of the export, to a folder, to a file, and to a missing target
    const probe = folder()
    await exportAll(STRANGE_NAMES, probe)
    const goals = [elsewhere, join(elsewhere, 'precious'), join(elsewhere, 'new'), '../../out.xml', '/dev/full']
    for (const name of readdirSync(probe)) symlinkSync(goals[planted++ % goals.length] ?? elsewhere, join(target, name))
    for (const more of [[], ['--replace']]) {
      const { store } = await storeOf(STRANGE_NAMES)
      for (const format of FORMATS) {
        const ran = await cli(newWorld(), ['export', '--all', '-o', format, '--to', target, ...more], { store })
        expect(ran.exit).toBe(7)
      }
    }
    expect(snapshot(elsewhere)).toEqual(before)
    expect(readdirSync(target).filter(name => !lstatSync(join(target, name)).isSymbolicLink())).toEqual([])
  })
  expect(changed.filter(line => !line.includes('/elsewhere'))).toEqual([])
  expect(planted).toBeGreaterThan(50)
  row.injected('links in the target', planted)
})

test('an import follows no links, and accepts no name that leads elsewhere', async () => {
  const [from, secret] = [folder(), folder()]
  writeFileSync(join(secret, 'secret.xml'), '<S><Event id="00" msg="secret"/></S>')
  symlinkSync(join(secret, 'secret.xml'), join(from, 'a.xml'))
  symlinkSync(secret, join(from, 'folder'))
  for (const name of ['%2E%2E%2Fout.xml', '%00.xml', 'x%2F..%2F..%2Fy.xml', '%2Eleasectl%2Fwatchdogs.xml', '%ff.xml'])
    writeFileSync(join(from, name), '<S><Event id="00"/></S>')
  const world = newWorld()
  const ran = await cli(world, ['import', from])
  expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining('skipped 7 files') })
  const names = (await Array.fromAsync(world.store.list({}))).flat().map(({ name }) => name)
  expect(names).toEqual([])
})

test('the embedded store keeps everything in its file, whatever the names', async () => {
  const { changed } = await escapesOf(STRANGE_NAMES, async target => {
    const store = await openStore(`sqlite:${join(target, 'a.db')}`, {})
    const world = newWorld()
    await cli(world, ['init', 's'])
    const seed = await world.store.read('s')
    if (seed?.summary === undefined) throw new Error('no stream')
    let kept = 0
    for (const name of STRANGE_NAMES) {
      const outcome = await store.create(name, seed.body, seed.summary).catch(() => undefined)
      if (outcome !== undefined) kept += 1
    }
    await store.close()
    expect(kept).toBeGreaterThan(20)
    row.injected('names kept by the embedded store', kept)
  })
  expect(changed).toEqual([])
})

test('names of contexts and of streams in a run file create no other files than ours', async () => {
  const { target, changed } = await escapesOf(STRANGE_NAMES, async home => {
    const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_STATE_HOME: join(home, 'state') }
    const others = STRANGE_NAMES.filter(name => !/^[A-Za-z0-9][\w.-]*$/.test(name))
    for (const name of others) {
      const ran = await cli(newWorld(), ['context', 'add', '--store', 'sqlite:/x', '--', name], { env })
      expect(ran.exit, name).toBe(2)
    }
    for (const name of ['con', 'a..', 'A']) {
      expect((await cli(newWorld(), ['context', 'add', name, '--store', 'sqlite:/x'], { env })).exit).toBe(0)
    }
    const { store } = await storeOf(STRANGE_NAMES)
    await cli(newWorld(), ['cancel', '--all', '--yes'], { env, store })
  })
  expect(changed).toEqual([])
  const files = filesIn(target)
  expect(files).toContain('config/leasectl/contexts.json')
  expect(
    files.filter(file => !/^(config\/leasectl\/contexts\.json|state\/leasectl\/runs\/[\w.-]+)$/.test(file)),
  ).toEqual([])
})

test('the test detects a missing mapping of names', async () => {
  vi.resetModules()
  vi.doMock('../../../src/commands/transfer/file-names.ts', async original => ({
    ...(await original<object>()),
    filePathOf: (name: string, extension: string) => name + extension,
  }))
  // a folder without checks, like `join` alone
  vi.doMock('../../../src/commands/export/safe-folder.ts', async original => ({
    ...(await original<object>()),
    openSafeFolder: async (path: string) => ({
      path,
      check: async () => {},
      folderOf: async (relative: string) => join(path, relative, '..'),
    }),
  }))
  onTestFinished(() => {
    vi.doUnmock('../../../src/commands/transfer/file-names.ts')
    vi.doUnmock('../../../src/commands/export/safe-folder.ts')
    vi.resetModules()
  })
  const careless = await import('../../unit/commands/support.ts')
  const { changed } = await escapesOf(['../new', '..\\x'], to => exportAll(['../new', '..\\x'], to, careless.cli))
  expect(changed).not.toEqual([])
  row.control('the mapping of names taken out', changed.length > 0)
})
