import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../../build/bundle.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

let folder: string

/** A program's folder with the library as it is built. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-uncaught-'))
  const library = join(folder, 'node_modules/leasectl')
  for (const { fileName, code } of await bundle(ROOT)) {
    const file = join(library, 'dist', fileName)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
  }
  writeFileSync(join(library, 'package.json'), JSON.stringify({ type: 'module', exports: './dist/index.js' }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['an unknown option', `worker(store, { name: 'Search', concurency: 4 }, () => {})`, 'worker', 'concurency'],
  ['a missing stream', `mustReadStream(store, 'orders/1')`, 'mustReadStream', 'StreamNotFound'],
  ['a missing event', `changeStream(store, 's', by, s => s.mustFind('09.00'))`, 'mustFind', 'EventNotFound'],
  ['an attribute that is not free', `changeStream(store, 's', by, s => s.root.set({ status: 'x' }))`, 'set', 'status'],
  ['an invalid expression', `xpath('./Event[')`, 'xpath', 'InvalidValue'],
  ['an expression that fails', `(await mustReadStream(store, 's')).values('error()')`, 'values', 'InvalidValue'],
  ['an invalid address', `openStore('sqlit:x.db')`, 'openStore', 'BadAddress'],
  [
    'a file that is not a store',
    `openStore('sqlite:' + import.meta.dirname).then(s => s.read('s'))`,
    'read',
    'BadAddress',
  ],
])('an uncaught %s: the output of Node is short, and names the function and the problem', (_, call, place, what) => {
  const program = join(folder, 'program.mjs')
  writeFileSync(
    program,
    `import { changeStream, createStream, mustReadStream, openStore, worker, xpath } from 'leasectl'
const store = await openStore('memory:')
const by = { by: 'shop' }
await createStream(store, 's', by)
await ${call}
`,
  )
  const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toContain(what)
  expect(stderr).toMatch(new RegExp(`at .*${place}.* \\(?file:.*/leasectl/dist/.*\\.js:\\d+:\\d+`))
  expect(Buffer.byteLength(stderr)).toBeLessThan(4_000)
})
