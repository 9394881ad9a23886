import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { OutputChunk } from 'rolldown'
import { beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../../build/bundle.mjs'
import { lazyBuiltins } from '../../build/lazy-builtins.mjs'
import { packageFolder, thirdPartyNotices } from '../../build/notices.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

describe('the bundle', () => {
  let chunks: readonly OutputChunk[]

  beforeAll(async () => {
    chunks = await bundle(ROOT)
  })

  test.each([
    ['cli.js', /^(@azure|@typespec|ink|react|yoga|saxes|yaml|prom-client|valibot)/],
    ['index.js', /^(@azure|@typespec|ink|react|yoga|commander|chalk|prom-client|valibot)/],
  ])('%s loads no heavy module before it is needed', (entry, heavy) => {
    const chunksLoaded = loadedAtStart(entry)
    expect(chunksLoaded.map(chunk => chunk.fileName)).toContain(entry)
    expect(packagesOf(chunksLoaded).filter(name => heavy.test(name))).toEqual([])
  })

  test('the library contains no part of the command line, the dashboard or the watchdog', () => {
    const ours = loadedAtStart('index.js').flatMap(({ moduleIds }) =>
      moduleIds.filter(id => id.startsWith(`${ROOT}src/`)),
    )
    const rooms = new Set(ours.map(id => id.slice(`${ROOT}src/`.length).split('/')[0]))
    expect([...rooms].filter(room => /^(cli|commands|tui|watchdog|demo|lab)$/.test(room ?? ''))).toEqual([])
  })

  test('Entra ID is a chunk of its own, separate from the storage client', () => {
    const identity = chunks.filter(chunk => packagesOf([chunk]).includes('@azure/identity'))
    const storage = chunks.filter(chunk => packagesOf([chunk]).includes('@azure/storage-blob'))
    expect(identity).not.toEqual([])
    expect(storage).not.toEqual([])
    expect(identity.filter(chunk => storage.includes(chunk))).toEqual([])
  })

  test('no code for development is included', () => {
    const modules = chunks.flatMap(chunk => chunk.moduleIds)
    expect(modules.filter(id => /react.*development\.js$|react-devtools-core\//.test(id))).toEqual([])
  })

  test('names are preserved for stack traces', () => {
    expect(chunks.find(chunk => chunk.fileName === 'cli.js')?.code).toMatch(/function main\(/)
  })

  test('every bundled package is in the notices, with a license', async () => {
    const notices = await thirdPartyNotices(chunks.flatMap(chunk => chunk.moduleIds))
    for (const name of packagesOf(chunks)) expect(notices).toMatch(new RegExp(`^${name} \\d\\S* \\(\\S.*\\)$`, 'm'))
    expect(notices).not.toContain('undefined')
  })

  test('the licenses of bundled packages require only attribution', () => {
    const folders = new Set(chunks.flatMap(chunk => chunk.moduleIds).map(packageFolder))
    const licences = [...folders].flatMap(folder =>
      folder === undefined ? [] : [JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).license as string],
    )
    expect(
      licences.filter(licence => !/^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0)$/.test(licence)),
    ).toEqual([])
  })

  /** A chunk and all it imports statically. */
  function loadedAtStart(fileName: string, seen = new Set<OutputChunk>()): readonly OutputChunk[] {
    const chunk = chunks.find(candidate => candidate.fileName === fileName)
    if (chunk === undefined || seen.has(chunk)) return []
    seen.add(chunk)
    for (const imported of chunk.imports) loadedAtStart(imported, seen)
    return [...seen]
  }
})

test('an import that cannot be bundled fails the build', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-bundle-'))
  try {
    await writeFile(join(folder, 'main.js'), 'import "no-such-package"')
    await expect(bundle(folder, { cli: './main.js' })).rejects.toThrow('no-such-package')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a function of a lazily loaded module keeps its own properties', async () => {
  const stub = lazyBuiltins().load.handler('\0lazy:fs')
  const fs = await import(`data:text/javascript,${encodeURIComponent(stub)}`)
  expect(fs.realpathSync('/')).toBe('/')
  expect(fs.realpathSync.native('/')).toBe('/')
})

test('promisify of a function that is loaded late is promisify of that function', async () => {
  const stub = lazyBuiltins().load.handler('\0lazy:child_process')
  const { execFile } = await import(`data:text/javascript,${encodeURIComponent(stub)}`)
  expect(await promisify(execFile)(process.execPath, ['-p', '1'])).toEqual({ stdout: '1\n', stderr: '' })
})

test.each([
  ['/x/node_modules/saxes/saxes.js', '/x/node_modules/saxes'],
  ['/x/node_modules/@azure/identity/dist/index.js', '/x/node_modules/@azure/identity'],
  ['/x/node_modules/a/node_modules/b/c.js', '/x/node_modules/a/node_modules/b'],
  ['/x/src/index.ts', undefined],
])('the package of %s is %s', (moduleId, folder) => {
  expect(packageFolder(moduleId)).toBe(folder)
})

function packagesOf(chunks: readonly OutputChunk[]): readonly string[] {
  const folders = new Set(chunks.flatMap(chunk => chunk.moduleIds).map(packageFolder))
  const manifests = [...folders].filter(folder => folder !== undefined).map(folder => `${folder}/package.json`)
  return [...new Set(manifests.map(file => JSON.parse(readFileSync(file, 'utf8')).name as string))]
}
