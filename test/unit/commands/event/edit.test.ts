import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { cli, json, newWorld, type World } from '../support.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-edit-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function leased(): Promise<World> {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A'])
  await cli(world, ['lease', 'acquire', 's', '--lease-id', ID])
  return world
}

/** Reads the document under the lease and changes it. */
async function changed(world: World, from = 'name="A"', to = 'name="A" key="north"'): Promise<string> {
  const { stdout } = await cli(world, ['show', 's', '-o', 'xml', '--lease-id', ID])
  const path = join(folder, `${to.replaceAll(/\W/g, '')}.xml`)
  writeFileSync(path, stdout.replace(from, to))
  return path
}

const lastEntry = async (world: World) => (await readStream(world.store, 's'))?.transactions().at(-1)

test('a document is read and written back under one lease, as an entry of its author', async () => {
  const world = await leased()
  const path = await changed(world)
  const ran = await cli(world, ['event', 'edit', 's', path, '--lease-id', ID, '--by', 'ann', '-m', 'wrong key'])
  expect(ran).toMatchObject({ exit: 0, stdout: expect.stringContaining('edited') })
  expect(await lastEntry(world)).toMatchObject({ op: 'foreign', by: 'ann', why: 'wrong key', version: 2 })
  expect((await readStream(world.store, 's'))?.stream.find('01.00')?.key).toBe('north')
  expect((await world.store.read('s'))?.lease.state).toBe('leased')
})

test('a document comes from standard input too', async () => {
  const world = await leased()
  const stdin = readFileSync(await changed(world), 'utf8')
  expect(await cli(world, ['event', 'edit', 's', '-', '--lease-id', ID], { stdin })).toMatchObject({ exit: 0 })
  expect((await lastEntry(world))?.op).toBe('foreign')
})

test('event edit -o json prints the change', async () => {
  const world = await leased()
  const path = await changed(world)
  const { stdout } = await cli(world, ['event', 'edit', 's', path, '--lease-id', ID, '-o', 'json'])
  expect(json(stdout)).toMatchObject({ stream: 's', outcome: 'done', version: 2 })
})

test('without a lease, or under a lost one, nothing is written', async () => {
  const world = await leased()
  const path = await changed(world)
  expect(await cli(world, ['event', 'edit', 's', path])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('needs --lease-id'),
  })
  expect(await cli(world, ['event', 'edit', 's', path, '--lease-id', OTHER])).toMatchObject({ exit: 11 })
  expect((await lastEntry(world))?.op).toBe('init')
})

test('a document is not shown under a lease that is not its own', async () => {
  const world = await leased()
  const ran = await cli(world, ['show', 's', '-o', 'xml', '--lease-id', OTHER])
  expect(ran).toMatchObject({ exit: 11, stdout: '', stderr: expect.stringContaining('lease-lost') })
  expect(await cli(world, ['show', 'nix', '-o', 'xml', '--lease-id', ID])).toMatchObject({ exit: 3 })
  expect(await cli(world, ['show', 's', '--lease-id', ID])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('needs -o xml'),
  })
})

test.each([
  ['no file', 'nowhere.xml', 2],
  ['no XML', 'text.xml', 12],
  ['no event', 'empty.xml', 2],
])('a document with %s is refused', async (_, name, exit) => {
  const world = await leased()
  writeFileSync(join(folder, 'text.xml'), 'hello')
  writeFileSync(join(folder, 'empty.xml'), '<EventStream/>')
  expect(await cli(world, ['event', 'edit', 's', join(folder, name), '--lease-id', ID])).toMatchObject({ exit })
  expect((await lastEntry(world))?.op).toBe('init')
})

test('import --replace under a lease takes an older document without taking a version back', async () => {
  const world = await leased()
  const path = await changed(world, 'name="A"', 'name="A" tag="old"')
  await cli(world, ['event', 'complete', 's', '01.00', '--lease-id', ID])
  const plain = await cli(world, ['import', path, '--name', 's', '--replace', '--yes'])
  expect(plain).toMatchObject({ exit: 5, stderr: expect.stringContaining('never goes back') })
  const ran = await cli(world, ['import', path, '--name', 's', '--replace', '--yes', '--lease-id', ID, '--by', 'ann'])
  expect(ran).toMatchObject({ exit: 0, stdout: expect.stringContaining('replaced') })
  const view = await readStream(world.store, 's')
  expect(view?.transactions().map(({ op, by }) => `${op} ${by}`)).toEqual([
    'init tester@testhost',
    'complete tester@testhost',
    'foreign ann',
  ])
  expect(view?.stream.find('01.00')).toMatchObject({ status: 'init', tag: 'old' })
})

test.each([
  [['--lease-id', ID], 'needs --replace'],
  [['--lease-id', ID, '--replace'], 'a single file'],
])('import %j is refused: %s', async (flags, why) => {
  const world = await leased()
  const source = flags.includes('--replace') ? folder : await changed(world)
  expect(await cli(world, ['import', source, ...flags])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(why),
  })
})

test('import under a lost lease writes nothing and says so', async () => {
  const world = await leased()
  const path = await changed(world)
  const ran = await cli(world, ['import', path, '--name', 's', '--replace', '--yes', '--lease-id', OTHER])
  expect(ran).toMatchObject({ exit: 11, stderr: expect.stringContaining('not the lease of s') })
  expect((await lastEntry(world))?.op).toBe('init')
})

test('an event that an edit leaves out is told as removed', async () => {
  const world = newWorld()
  await cli(world, ['init', 's', '--fork', 'A,B'])
  await cli(world, ['lease', 'acquire', 's', '--lease-id', ID])
  const { stdout } = await cli(world, ['show', 's', '-o', 'xml', '--lease-id', ID])
  const path = join(folder, 'removed.xml')
  writeFileSync(path, stdout.replace(/ *<Event name="B".*\n/, '').replace('next="01.00|02.00"', 'next="01.00"'))
  const ran = await cli(world, ['event', 'edit', 's', path, '--lease-id', ID])
  expect(ran).toMatchObject({ exit: 0, stdout: expect.stringContaining('    02.00  - removed\n') })
})
