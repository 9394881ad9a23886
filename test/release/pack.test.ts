import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publishedManifest } from '../../build/manifest.mjs'
import { trustRow } from '../guarantees/record.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const checkoutManifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))

const row = trustRow('supply')
let checkout: string
let tarball: string

/** A checkout with the real package.json and a build without effect; packed once, because that takes seconds. */
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'leasectl-checkout-'))
  cpSync(`${ROOT}build`, join(checkout, 'build'), { recursive: true })
  cpSync(`${ROOT}bin`, join(checkout, 'bin'), { recursive: true })
  mkdirSync(join(checkout, 'dist'))
  writeFileSync(join(checkout, 'dist/cli.js'), '')
  writeManifest({ ...checkoutManifest, scripts: { ...checkoutManifest.scripts, prepare: 'node -e 0' } })
  tarball = join(checkout, `leasectl-${checkoutManifest.version}.tgz`)
  const { status, stderr } = npm('pack')
  expect([status, stderr]).toEqual([0, expect.any(String)])
})
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

test('the published manifest keeps what a user needs and nothing else', () => {
  const { scripts, devDependencies, allowScripts, ...rest } = checkoutManifest
  expect(publishedManifest(checkoutManifest)).toEqual(rest)
  expect(rest).not.toHaveProperty('dependencies')
})

test('npm pack makes a tarball with the published manifest', () => {
  const packed = JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }))
  expect(packed).toEqual(publishedManifest(checkoutManifest))
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n').sort()
  const expected = ['bin/compile-cache.js', 'bin/leasectl.js', 'bin/node-version.js', 'dist/cli.js', 'package.json']
  expect(files).toEqual(expected.map(file => `package/${file}`))
})

test('the package is installed without a network and without scripts, and without dependencies', () => {
  const user = join(checkout, 'user')
  mkdirSync(user)
  writeFileSync(join(user, 'package.json'), '{ "private": true }')
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund']
  for (const command of [['install', tarball], ['ci']]) {
    const { status, stderr } = npmIn(user, ...command, ...quiet)
    expect([status, stderr]).toEqual([0, stderr])
    expect(readdirSync(join(user, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual(['leasectl'])
    row.injected(`npm ${command[0]} --ignore-scripts of the package`, 1)
  }
}, 120_000)

test('package.json is never changed, even if packing fails', () => {
  const before = readFileSync(join(checkout, 'package.json'), 'utf8')
  writeFileSync(
    join(checkout, 'build/manifest.mjs'),
    'export const publishedManifest = () => { throw new Error("stop") }',
  )
  expect(npm('pack').status).not.toBe(0)
  expect(readFileSync(join(checkout, 'package.json'), 'utf8')).toBe(before)
})

test('publishing the checkout itself is refused', () => {
  const { status, stderr } = npm('publish', '--dry-run')
  expect(status).not.toBe(0)
  expect(stderr).toContain('npm publish ./leasectl-')
})

function writeManifest(manifest: unknown): void {
  writeFileSync(join(checkout, 'package.json'), JSON.stringify(manifest))
}

function npm(...args: string[]) {
  return npmIn(checkout, ...args)
}

function npmIn(folder: string, ...args: string[]): ReturnType<typeof spawnSync> & { readonly stderr: string } {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_') && name !== 'INIT_CWD')
  const env = { ...Object.fromEntries(own), npm_config_registry: 'http://127.0.0.1:9' }
  return spawnSync('npm', args, { cwd: folder, env, encoding: 'utf8' })
}
