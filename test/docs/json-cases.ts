import { type Case, HELD, line, TWO } from './json-case.ts'
import { CHANGING } from './json-cases-changing.ts'
import { READING } from './json-cases-reading.ts'
import * as stores from './json-stores.ts'
import { LEASE_ID } from './json-world.ts'

const ERRORS: readonly Case[] = [
  line(undefined, 'ls -o json', { store: stores.buggy, exit: 1 }),
  line(undefined, 'show open -o json', { setting: { signal: AbortSignal.abort('SIGINT') }, exit: 130 }),
  line(undefined, 'show -o json', { exit: 2 }),
  line(undefined, 'nix -o json', { exit: 2 }),
  line(undefined, 'ls --nix -o ndjson', { exit: 2 }),
  line(undefined, 'show nix -o json', { exit: 3 }),
  line(undefined, 'cancel a -o json', { ...TWO, store: stores.readOnly, exit: 4 }),
  line(undefined, 'cancel a --if-version 9 -o json', { ...TWO, exit: 5 }),
  line(undefined, 'cancel b --lease-wait 0s -o json', { ...HELD, exit: 6 }),
  line(undefined, 'ls -o json', { store: stores.away, exit: 9 }),
  line(undefined, 'cancel a -o json', { ...TWO, store: store => stores.answering(store, 'unknown'), exit: 10 }),
  line(undefined, `cancel a --lease-id ${LEASE_ID} -o json`, {
    ...TWO,
    store: store => stores.answering(store, 'lost'),
    exit: 11,
  }),
  line(undefined, 'tail bad -o ndjson', { exit: 12 }),
  line(undefined, 'cancel bad -o json', { exit: 12 }),
]

/** Command lines that together print every kind of document, each in all its forms. */
export const CASES: readonly Case[] = [...READING, ...CHANGING, ...ERRORS]
