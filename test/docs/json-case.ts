import type { StreamStore } from '../../src/store/store.ts'
import type { Setting, World } from '../unit/commands/support.ts'
import * as stores from './json-stores.ts'
import * as given from './json-world.ts'

/** A command line and the schemas of its output. */
export interface Case {
  readonly argv: readonly string[]
  /** Of stdout; `undefined` means empty. A schema for ndjson applies to each line. */
  readonly schema: string | undefined
  readonly exit: number
  /** The number of errors on stderr. */
  readonly errors: number
  /** The streams of the store; by default all, which the command must not change. */
  readonly world: (() => Promise<World>) | undefined
  readonly store: (store: StreamStore) => StreamStore
  readonly setting: Setting
  /** Commands before it. In these and in `argv` `FOLDER` is an empty folder. */
  readonly before: readonly string[]
}

export type Rest = Partial<Omit<Case, 'argv' | 'schema'>>

/** A failure has its error on stderr. */
export function line(schema: string | undefined, argv: string | readonly string[], rest: Rest = {}): Case {
  const { exit = 0, errors = exit === 0 ? 0 : 1 } = rest
  const words = typeof argv === 'string' ? argv.split(' ') : argv
  const usual = { world: undefined, store: stores.unsummarized, setting: {}, before: [] }
  return { argv: words, schema, ...usual, ...rest, exit, errors }
}

/** The same output as a document and line by line. */
export function both(schema: string, item: string, argv: string, rest: Rest = {}): Case[] {
  return [line(schema, `${argv} -o json`, rest), line(item, `${argv} -o ndjson`, rest)]
}

export const EVERYTHING: Rest = { world: given.everything }
export const TWO: Rest = { world: given.two }
export const HELD: Rest = { world: given.oneHeld }
export const MIXED: Rest = { world: given.mixed }
export const CLAIMED: Rest = { world: given.claimed }
