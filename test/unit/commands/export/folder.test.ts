import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import { init, run } from '../../ops/support.ts'
import { before, given, namesOf, unreadable } from '../batch/support.ts'
import { storeWith } from '../store-with.ts'
import { bodyOf, cli, NOON, newWorld, type World } from '../support.ts'
import { filesIn, folder, textOf } from '../transfer/support.ts'

async function withStreams(...names: string[]): Promise<World> {
  const world = newWorld()
  await given(world, names)
  return world
}

test('each stream is a file under its name, byte by byte and with the time of the stream', async () => {
  const world = await withStreams('orders/4711', 'a.xml/b', 'con')
  const to = join(folder(), 'new', 'folder')
  const ran = await cli(world, ['export', '--all', '--to', to])
  expect(ran).toMatchObject({ exit: 0, stderr: '3 streams: 3 done\n' })
  expect(ran.stdout.split('\n')).toContain(`✓ done     orders/4711  written  ${to}/orders/4711.xml`)
  expect(filesIn(to)).toEqual(['%63on.xml', 'a%2Exml/b.xml', 'orders/4711.xml'])
  expect(textOf(to, 'orders/4711.xml')).toBe(await bodyOf(world, 'orders/4711'))
  expect(statSync(join(to, 'orders/4711.xml')).mtimeMs).toBe(NOON)
})

test.each([
  ['json', 's.json', /^\{\n {2}"apiVersion": "leasectl\/v1"/],
  ['mermaid', 's.mmd', /^flowchart TD\n/],
])('-o %s', async (format, file, content) => {
  const to = folder()
  expect((await cli(await withStreams('s'), ['export', '--all', '-o', format, '--to', to])).exit).toBe(0)
  expect(filesIn(to)).toEqual([file])
  expect(textOf(to, file)).toMatch(content)
})

test('without streams no folder is created: a wrong store or selection leaves nothing behind', async () => {
  const to = join(folder(), 'new')
  const world = await withStreams('a')
  const none = await cli(world, ['export', '--match', 'nix/**', '--to', to])
  expect(none).toMatchObject({ exit: 0, stdout: '', stderr: expect.stringContaining('no matching streams') })
  expect((await cli(world, ['export', 'nix', '--to', to])).exit).toBe(3)
  const store = storeWith(world.store, {
    // biome-ignore lint/correctness/useYield: it fails before the first page
    async *list() {
      throw new StoreUnreachable('gone')
    },
  })
  expect((await cli(world, ['export', '--all', '--to', to], { store })).exit).toBe(9)
  expect(existsSync(to)).toBe(false)
})

test('repeating continues: identical files are left alone', async () => {
  const world = await withStreams('a', 'b')
  const to = folder()
  await cli(world, ['export', 'a', '--to', to])
  const inode = statSync(join(to, 'a.xml')).ino
  const ran = await cli(world, ['export', '--all', '--to', to])
  expect(ran).toMatchObject({ exit: 0, stderr: '2 streams: 1 done, 1 already\n' })
  expect(statSync(join(to, 'a.xml')).ino).toBe(inode)
})

test('a file with different content is refused without --replace', async () => {
  const world = await withStreams('a', 'b')
  const to = folder()
  writeFileSync(join(to, 'a.xml'), 'mine')
  const ran = await cli(world, ['export', '--all', '--to', to])
  expect(ran.exit).toBe(7)
  expect(ran.stderr).toContain('--replace overwrites it')
  expect(textOf(to, 'a.xml')).toBe('mine')
  expect(textOf(to, 'b.xml')).toBe(await bodyOf(world, 'b'))
  expect((await cli(world, ['export', 'a', '--to', to])).exit).toBe(5)
  expect((await cli(world, ['export', '--all', '--to', to, '--replace'])).exit).toBe(0)
  expect(textOf(to, 'a.xml')).toBe(await bodyOf(world, 'a'))
  expect(filesIn(to)).toEqual(['a.xml', 'b.xml'])
})

describe('nothing is written outside the folder', () => {
  test('by a name', async () => {
    const world = await withStreams('s')
    const names = ['../out', '/etc/leasectl', 'a/../../out', 'C:\\out']
    // Our stores refuse such names; another store may contain them.
    const store = storeWith(world.store, {
      read: async name => ({ ...((await world.store.read('s')) ?? Promise.reject(new Error())), name }),
      async *list() {
        for await (const [row] of world.store.list({})) if (row) yield names.map(name => ({ ...row, name }))
      },
    })
    const around = folder()
    const ran = await cli(world, ['export', '--all', '--to', join(around, 'target')], { store })
    expect(ran.exit).toBe(0)
    expect(filesIn(around)).toEqual([
      'target/%2E%2E/out.xml',
      'target/%_/etc/leasectl.xml',
      'target/C%3A%5Cout.xml',
      'target/a/%2E%2E/%2E%2E/out.xml',
    ])
  })

  test('through a symbolic link to a folder', async () => {
    const [to, elsewhere] = [folder(), folder()]
    symlinkSync(elsewhere, join(to, 'orders'))
    const ran = await cli(await withStreams('orders/1', 'other'), ['export', '--all', '--to', to, '--replace'])
    expect(ran.exit).toBe(7)
    expect(ran.stdout).toMatch(/refused {2}orders\/1 .*leads to/)
    expect(filesIn(elsewhere)).toEqual([])
    expect(filesIn(to)).toEqual(['orders', 'other.xml'])
  })

  test('through a symbolic link in place of a file, even one without a target', async () => {
    const [to, elsewhere] = [folder(), folder()]
    writeFileSync(join(elsewhere, 'precious'), 'precious')
    symlinkSync(join(elsewhere, 'precious'), join(to, 'a.xml'))
    symlinkSync(join(elsewhere, 'new'), join(to, 'b.xml'))
    for (const more of [[], ['--replace']]) {
      const ran = await cli(await withStreams('a', 'b'), ['export', '--all', '--to', to, ...more])
      expect(ran.exit).toBe(7)
    }
    expect(filesIn(elsewhere)).toEqual(['precious'])
    expect(textOf(elsewhere, 'precious')).toBe('precious')
  })

  test('but the folder itself may be a link, which is followed', async () => {
    const [around, real] = [folder(), folder()]
    symlinkSync(real, join(around, 'link'))
    expect((await cli(await withStreams('a'), ['export', 'a', '--to', join(around, 'link')])).exit).toBe(0)
    expect(filesIn(real)).toEqual(['a.xml'])
  })
})

test('of streams whose names are one file to the file system, the second is refused, with --replace too', async () => {
  const world = await withStreams('A')
  const to = folder()
  await cli(world, ['export', '--all', '--to', to])
  // As on a file system that ignores case.
  linkSync(join(to, 'A.xml'), join(to, 'a.xml'))
  await given(world, ['a'])
  const alike = await cli(world, ['export', '--all', '--to', to])
  expect(alike.exit).toBe(7)
  expect(alike.stdout).toContain('is the file of A')
  const replacing = await cli(world, ['export', '--all', '--to', to, '--replace'])
  expect(replacing.stdout).toContain('is the file of A')
  expect(textOf(to, 'A.xml')).toBe(await bodyOf(world, 'A'))
})

test('an unreadable document among good ones: copied unchanged by xml, reported by the other formats, the rest continues', async () => {
  const world = await withStreams('a', 'c')
  await unreadable(world, 'b')
  const [xml, mermaid] = [folder(), folder()]
  const copied = await cli(world, ['export', '--all', '--to', xml])
  expect(copied).toMatchObject({ exit: 0 })
  expect(copied.stderr).toContain('1 cannot be read as event streams; their bytes were copied unchanged')
  expect(textOf(xml, 'b.xml')).toBe('<x')
  const told = await cli(world, ['export', '--all', '-o', 'mermaid', '--to', mermaid])
  expect(told.exit).toBe(7)
  expect(told.stdout).toMatch(/✗ failed {3}b {2}(?!b:).*\[bad-document\]/)
  expect(filesIn(mermaid)).toEqual(['a.mmd', 'c.mmd'])
})

test('streams that vanish meanwhile are counted', async () => {
  const world = await withStreams('a', 'b')
  const store = before(world.store, 'read', async name => {
    if (name === 'b') await world.store.remove('b', {})
  })
  const ran = await cli(world, ['export', '--all', '--to', folder()], { store })
  expect(ran).toMatchObject({ exit: 0, stderr: '2 streams: 1 done, 1 vanished meanwhile\n' })
})

test('an unreachable store ends the export after a few streams, and is reported', async () => {
  const world = await withStreams(...namesOf(60))
  let reads = 0
  const read = async () => {
    reads += 1
    throw new StoreUnreachable('no route')
  }
  const ran = await cli(world, ['export', '--all', '--to', folder()], { store: storeWith(world.store, { read }) })
  expect(ran.exit).toBe(9)
  expect(reads).toBeLessThan(30)
  expect(ran.stderr).toContain('error: no route')
})

test('an interrupted export completes what is in flight and says so', async () => {
  const world = await withStreams(...namesOf(30))
  const to = folder()
  const interruption = new AbortController()
  const store = before(world.store, 'read', name => {
    if (name === 's004') interruption.abort('SIGINT')
  })
  const ran = await cli(world, ['export', '--all', '--to', to, '--concurrency', '1'], {
    store,
    signal: interruption.signal,
  })
  expect(ran.exit).toBe(130)
  expect(filesIn(to)).toEqual(['s000.xml', 's001.xml', 's002.xml', 's003.xml', 's004.xml'])
})

describe('a target that cannot be written:', () => {
  test('a file in place of the folder, or of one below it', async () => {
    const to = folder()
    writeFileSync(join(to, 'file'), '')
    writeFileSync(join(to, 'orders'), '')
    expect((await cli(await withStreams('a'), ['export', 'a', '--to', join(to, 'file')])).exit).toBe(2)
    const below = await cli(await withStreams('a', 'orders/1'), ['export', '--all', '--to', to])
    expect(below.exit).toBe(7)
    expect(filesIn(to)).toEqual(['a.xml', 'file', 'orders'])
  })

  test('a folder in place of a file', async () => {
    const to = folder()
    mkdirSync(join(to, 'a.xml'))
    for (const more of [[], ['--replace']]) {
      expect((await cli(await withStreams('a'), ['export', 'a', '--to', to, ...more])).exit).toBe(5)
    }
  })

  test('a path that is too long for the file system: reported, the rest continues', async () => {
    const name = Array.from({ length: 110 }, () => '\u202e').join('/\u202e\u202e\u202e\u202e/')
    const long = `x/${name.slice(0, 900)}`
    const world = await withStreams('a', 'z')
    await run(world.store, long, init())
    const to = folder()
    const ran = await cli(world, ['export', '--all', '--to', to])
    expect(ran.exit).toBe(7)
    expect(ran.stderr).toContain('1 of 3 not done')
    expect(filesIn(to)).toEqual(['a.xml', 'z.xml'])
  })

  test('a full disk: written files stay whole, no partial file remains, and the error says so', async ctx => {
    const disk = smallDisk()
    if (disk === undefined) return ctx.skip('needs the right to mount a tmpfs')
    const world = await withStreams(...namesOf(400))
    const ran = await cli(world, ['export', '--all', '--to', disk])
    expect(ran.exit).toBe(9)
    expect(ran.stderr).toMatch(/no space left for .*\(ENOSPC\) .*\[store-full\]/)
    const files = filesIn(disk)
    expect(files.length).toBeGreaterThan(10)
    expect(ran.stderr).toMatch(new RegExp(`streams: ${files.length} done, `))
    for (const file of files) expect(textOf(disk, file)).toBe(await bodyOf(world, file.slice(0, -4)))
    for (const file of files.slice(10)) unlinkSync(join(disk, file))
    const again = await cli(world, ['export', '--match', 's00*', '--to', disk])
    expect(again).toMatchObject({ exit: 0, stderr: '10 streams: 10 already\n' })
  })
})

/** A file system of 256 KiB for one test; `undefined` if it cannot be mounted. */
function smallDisk(): string | undefined {
  const disk = folder()
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('/bin/umount', [disk]))
  return disk
}

test('a round trip of a folder through another store keeps every byte', async () => {
  const world = await withStreams('orders/1', 'a.xml/b', `long/${'x'.repeat(300)}`, 'ü /ä', '50%')
  const [first, second] = [folder(), folder()]
  await cli(world, ['export', '--all', '--to', first])
  const other = newWorld()
  expect((await cli(other, ['import', first])).exit).toBe(0)
  await cli(other, ['export', '--all', '--to', second])
  expect(filesIn(second)).toEqual(filesIn(first))
  for (const file of filesIn(first)) expect(readFileSync(join(second, file))).toEqual(readFileSync(join(first, file)))
})
