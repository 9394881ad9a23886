import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BIN = fileURLToPath(new URL('../../bin', import.meta.url))

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leasectl-bin-'))
  await cp(BIN, join(folder, 'bin'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('the exit code of the program is passed on', async () => {
  await writeProgram('export async function main() { process.exitCode = 7 }')
  expect(await start()).toEqual({ code: 7, stdout: '', stderr: '' })
})

test('compiled code is cached in the cache folder of the user', async () => {
  await writeProgram('export async function main() {}')
  expect(await start()).toMatchObject({ code: 0 })
  expect(await readdir(join(folder, 'cache', 'leasectl', 'compile'))).toHaveLength(1)
})

test('an unsupported Node is detected before anything is loaded', async () => {
  await writeProgram('throw new Error("loaded")')
  const pretend = 'Object.defineProperty(process, "versions", { value: { node: "25.0.0" } })'
  const { code, stderr } = await start('--import', `data:text/javascript,${encodeURIComponent(pretend)}`)
  expect(code).toBe(2)
  expect(stderr).toBe('error: leasectl needs Node ^22.22.3 || ^24.15.0 || >=26; this is Node 25.0.0\n')
})

test('a missing build is reported, with a remedy', async () => {
  const { code, stderr } = await start()
  expect(code).toBe(1)
  expect(stderr).toBe('error: leasectl is not built: dist/cli.js is missing; run "npm run build"\n')
})

test('a module that is missing inside the build is not reported as a missing build', async () => {
  await writeProgram('import "./chunks/lost.js"')
  const { code, stderr } = await start()
  expect(code).toBe(1)
  expect(stderr).toContain('lost.js')
  expect(stderr).not.toContain('npm run build')
})

async function writeProgram(source: string): Promise<void> {
  await mkdir(join(folder, 'dist'))
  await writeFile(join(folder, 'dist', 'cli.js'), source)
}

interface Ended {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

function start(...nodeArgs: string[]): Promise<Ended> {
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: join(folder, 'cache') }
  return new Promise(resolve => {
    execFile(process.execPath, [...nodeArgs, join(folder, 'bin/leasectl.js')], { env }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr })
    })
  })
}
