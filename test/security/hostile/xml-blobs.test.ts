import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { pathOf } from '../../../src/cli/command.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { MAX_READ_BYTES } from '../../../src/stream/limits.ts'
import type { Summary } from '../../../src/stream/summary.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { storeWith } from '../../unit/commands/store-with.ts'
import { allCommands, cli, newWorld, type World } from '../../unit/commands/support.ts'
import { summaryAfter } from './summary-after.ts'
import { BAD_DOCUMENTS } from './xml-corpus.ts'

const row = trustRow('xml')
const FOLDER = mkdtempSync(join(tmpdir(), 'leasectl-blobs-'))
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** Each command that reads or changes a document; the exit code is 12 unless given. */
const LINES: readonly (readonly [line: string, exit?: number])[] = [
  ['show s'],
  ['show s -o json'],
  ['show s --at 1'],
  ['show s --select //Event'],
  ['tail s'],
  ['tail s -n all -o ndjson'],
  ['log s'],
  ['log s -o json'],
  ['stats s'],
  // It waits until its time is over: another writer may repair the document.
  ['wait s --within 1ms --for event=00:completed', 124],
  ['doctor s'],
  ['doctor --all -o json'],
  ['export s -o json'],
  ['export s -o mermaid'],
  ['export s -o otlp'],
  ['init s'],
  ['init s --if-absent'],
  ['cancel s'],
  ['cancel s -e 00'],
  // A preview: it reports the document in its table.
  ['cancel s --dry-run', 0],
  ['abort s'],
  ['abort s -e 00 -o json'],
  ['retry s -e 00'],
  ['ack s -m known'],
  ['suspend s -m why --stop'],
  ['resume s'],
  ['signal s paid'],
  ['event append s --name A --command-id m1'],
  // Removal is final: an unreadable document does not permit it.
  ['rm s --yes'],
  // 125 replaces every code of the table under `exec`: those below belong to the command.
  ['exec s 00 -- true', 125],
  ['event start s 00'],
  ['event touch s 00'],
  ['event advance s 00 --next N'],
  ['event complete s 00'],
  ['event fail s 00'],
  ['event skip s 00 -m why'],
  ['event release s 00'],
  ['event set s 00 --tag x'],
  ['event data s 00'],
  ['event data s 00 --result'],
  ['event data s 00 --input -o json'],
  ['show s --data 00'],
  // The listing reports work, and that it is due: an unreadable document is reported and skipped.
  ['work --name A --once -- true', 125],
  ['work --name A --until-empty -- true', 7],
  ['watchdog --once', 0],
  ['watchdog --once -o json', 0],
  ['watchdog --dry-run', 0],
]

/** These read listings and leases, not documents, or no store; `event edit` needs the lease of the stream first. */
const OTHERS =
  /^(ls|events|workers|check|top|watchdog status|subscribe|subscription \w+|import|demo|completion|help|event edit|inbox \w+|inbox [a-z ]+|lab \w+|lease \w+|runs \w+|context \w+)$/

const CASES = sized(
  BAD_DOCUMENTS.filter(({ what }) =>
    /^(a DTD|an external entity|billion laughs|a duplicate attribute|an unclosed element|too deep|an Event without id|Latin-1|UTF-16 without a byte order mark|an overlong slash|zeros only|U\+0000 in a value|U\+001b in a text|a reference to NUL|blanks)$/.test(
      what,
    ),
  ),
  // A blob of zero bytes is a name that waits for its stream.
  BAD_DOCUMENTS.filter(({ bytes }) => bytes.length > 0),
)

/** For a stream with a ready event whose deadline has passed, one hour later. */
let listed: Summary | undefined

async function worldWith(bytes: Buffer): Promise<World> {
  listed ??= await summaryAfter('init s --fork A --timeout 1m')
  const world = newWorld()
  await world.store.create('s', bytes, listed)
  world.nowMs += 3_600_000
  return world
}

interface Seen {
  readonly line: string
  readonly exit: number
  /** Whether the error of the document was reported. */
  readonly isTold: boolean
  readonly isTouched: boolean
}

/** The effect of each line on a blob. `through` is between the program and the store. */
async function linesOn(bytes: Buffer, through = (store: StreamStore) => store): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  for (const [line] of LINES) {
    const world = await worldWith(bytes)
    const before = await world.store.read('s')
    const setting = { env: { PATH: process.env.PATH ?? '' }, store: through(world.store) }
    const { exit, stdout, stderr } = await cli(world, line.split(' '), setting)
    const isTold = /bad-document|unreadable/.test(stdout + stderr)
    const after = await world.store.read('s')
    const isTouched =
      before === undefined || after?.etag !== before.etag || !Buffer.from(after.body).equals(Buffer.from(bytes))
    seen.push({ line, exit, isTold, isTouched })
  }
  return seen
}

const WANTED = LINES.map(([line, exit = 12]): Seen => ({ line, exit, isTold: true, isTouched: false }))

test(
  'each command reports an unreadable document, ends with its code, and changes no byte of it',
  async () => {
    for (const { what, bytes } of CASES) {
      const seen = await linesOn(bytes)
      expect(seen, what).toEqual(WANTED)
    }
    row.injected('commands on documents that cannot be read', CASES.length * WANTED.length)
  },
  sized(60_000, 600_000),
)

test('an export as XML has the exact bytes, readable or not; a blob larger than any document is not exported', {
  timeout: sized(30_000, 120_000),
}, async () => {
  for (const [at, { bytes }] of CASES.entries()) {
    const to = join(FOLDER, String(at))
    const world = await worldWith(bytes)
    const { exit } = await cli(world, ['export', '--all', '--to', to])
    if (bytes.length > MAX_READ_BYTES) {
      expect({ exit, files: readdirSync(to) }).toEqual({ exit: 12, files: [] })
      continue
    }
    expect(exit).toBe(0)
    expect(readdirSync(to)).toEqual(['s.xml'])
    expect(readFileSync(join(to, 's.xml')).equals(bytes)).toBe(true)
  }
})

test('each command is in the table, or listed as reading no document', () => {
  const paths = allCommands()
    .filter(({ commands }) => commands.length === 0)
    .map(pathOf)
  expect(
    paths.filter(path => !OTHERS.test(path) && !LINES.some(([line]) => `${line} `.startsWith(`${path} `))),
  ).toEqual([])
})

test('the test detects a store that returns an older document in place of an unreadable one', async () => {
  const other = newWorld()
  await cli(other, ['init', 's'])
  const good = await other.store.read('s')
  if (good === undefined) throw new Error('no stream')
  const mended = <Row extends object>(row: Row) => ({ ...row, body: good.body })
  const lenient = (store: StreamStore) =>
    storeWith(store, {
      read: async name => {
        const stored = await store.read(name)
        return stored && mended(stored)
      },
      update: (name, decide, options) =>
        store.update(name, (current, nowMs) => decide(mended(current), nowMs), options),
    })
  const seen = await linesOn(Buffer.from('<S>'), lenient)
  expect(seen.filter(({ isTouched }) => isTouched)).not.toEqual([])
  expect(seen).not.toEqual(WANTED)
  row.control('a reader that mends what it cannot read', true)
})
