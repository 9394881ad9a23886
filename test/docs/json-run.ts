import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { storeWith } from '../unit/commands/store-with.ts'
import { cli, json, type Ran, type World } from '../unit/commands/support.ts'
import type { Case } from './json-case.ts'
import { everything, two } from './json-world.ts'

export interface Printed {
  readonly ran: Ran
  /** Of stdout; each line of ndjson is one. */
  readonly documents: readonly unknown[]
  /** Of stderr. */
  readonly errors: readonly unknown[]
  /** Lines of run files. */
  readonly runLines: readonly unknown[]
}

let shared: World | undefined

/** Runs a case with a home folder of its own. */
export async function runCase(one: Case): Promise<Printed> {
  const home = mkdtempSync(join(tmpdir(), 'leasectl-json-'))
  try {
    shared ??= await everything()
    const world = one.world === undefined ? shared : await one.world()
    const ran = await runIn(home, world, one)
    return {
      ran,
      documents: documentsOf(ran.stdout, one.argv),
      errors: linesOf(ran.stderr)
        .filter(line => line.startsWith('{'))
        .map(json),
      runLines: runFilesIn(home).flatMap(text => linesOf(text).map(json)),
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function runIn(home: string, world: World, { argv, before, store, setting }: Case): Promise<Ran> {
  const old = argv.includes('azurite:old') ? storeWith((await two()).store, { address: 'azurite:old' }) : undefined
  const usual = {
    ...setting,
    env: { XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, ...setting.env },
    ...(old === undefined ? {} : { others: { 'azurite:old': old } }),
  }
  const placed = (words: readonly string[]) => words.map(word => (word === 'FOLDER' ? join(home, 'folder') : word))
  for (const line of before) {
    const ran = await cli(world, placed(line.split(' ')), usual)
    if (ran.exit !== 0) throw new Error(`${line}: ${ran.stderr}`)
  }
  return cli(world, placed(argv), { ...usual, store: store(world.store) })
}

/** The format that `-o` names. */
export function formatOf(argv: readonly string[]): string | undefined {
  return argv[argv.indexOf('-o') + 1]
}

function documentsOf(stdout: string, argv: readonly string[]): unknown[] {
  if (stdout === '') return []
  const format = formatOf(argv)
  if (format === 'ndjson') return linesOf(stdout).map(json)
  return [format === 'yaml' ? parse(stdout) : json(stdout)]
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(line => line !== '')
}

function runFilesIn(home: string): string[] {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' })
  return names.filter(name => /runs\/.*\.ndjson$/.test(name)).map(name => readFileSync(join(home, name), 'utf8'))
}
