import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { publishedManifest } from '../../build/manifest.mjs'
import { trustRow } from '../guarantees/record.ts'

const row = trustRow('supply')

type Manifest = Readonly<Record<string, unknown>>

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly hasInstallScript?: boolean
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))
const checkout = read('package.json') as Manifest & { readonly allowScripts: Readonly<Record<string, boolean>> }
const lock = read('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> }
const locked = Object.entries(lock.packages).filter(([path]) => path !== '')

const BROUGHT = [
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'bundleDependencies',
  'bundledDependencies',
]
const AT_INSTALL = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare', 'dependencies']

/** The dependencies and scripts of an installed package. test/release compares the manifest with the packed one. */
function burdenOf(manifest: Manifest): { dependencies: string[]; scripts: string[] } {
  const namesOf = (key: string) => Object.keys((manifest[key] as object | undefined) ?? {})
  return {
    dependencies: BROUGHT.flatMap(namesOf),
    scripts: namesOf('scripts').filter(name => AT_INSTALL.includes(name)),
  }
}

/** Entries that could be replaced in transit: without a digest, or from elsewhere than the registry. */
function loose(entries: typeof locked): string[] {
  const isLoose = ({ integrity, resolved, link, optional, os, cpu }: Locked) =>
    link === true ||
    (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')) ||
    // programs for other systems have none if they were not requested; they are never installed here
    (!/^sha512-/.test(integrity ?? '') && !(optional === true && (os ?? cpu) !== undefined))
  return entries.filter(([, entry]) => isLoose(entry)).map(([path]) => path)
}

test('the published package has no dependencies and runs no scripts', () => {
  const { dependencies, scripts } = burdenOf(publishedManifest(checkout))
  expect([dependencies, scripts]).toEqual([[], []])
  row.figure('dependencies at run time', dependencies.length, '0')
  row.figure('install scripts', scripts.length, '0')

  const asItStands = burdenOf({ ...checkout, dependencies: { x: '1' } })
  const failed = asItStands.dependencies.length > 0 && asItStands.scripts.length > 0
  expect(failed).toBe(true)
  row.control('the manifest of the checkout is published', failed)
})

test('every package of the build is locked by its digest', () => {
  expect(locked.length).toBeGreaterThan(100)
  expect(loose(locked)).toEqual([])
  row.injected('locked packages', locked.length)

  const [[path, entry] = ['', {}]] = locked.filter(([, { integrity }]) => integrity !== undefined)
  const { integrity: _, ...bare } = entry
  const failed =
    loose([[path, bare]]).length > 0 && loose([[path, { ...entry, resolved: 'git+ssh://x.example/y.git' }]]).length > 0
  expect(failed).toBe(true)
  row.control('a package is locked without a digest', failed)
})

test('install scripts of the packages of the build run only after a review', () => {
  const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
  const names = withScripts.map(path => path.replace(/^.*node_modules\//, ''))
  expect(names.filter(name => !(name in checkout.allowScripts))).toEqual([])
})
