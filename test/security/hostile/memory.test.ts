import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import { COMPILED } from '../../support/compiled.ts'
import { allCommands } from '../../unit/commands/support.ts'
import { formatsOf } from './command-formats.ts'
import { LARGE_DOCUMENTS } from './large-documents.ts'
import { summaryAfter } from './summary-after.ts'

const row = trustRow('graphs')

/** The approximate number of events of each document; a program with memory for each pair of them exceeds this heap. */
const EVENTS = sized(1_000, 20_000)
const HEAP_MB = sized(128, 384)
/** A command prints at most this multiple of the document's bytes, and this on top. */
const MAX_PRINTED = 50
const ROOM_BYTES = 100_000

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-memory-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Commands that read one stream, foreign and adopted, then commands that change it. In the small size each document has a
 * third of those that only read, and one of the formats of each, by turns: there are many more documents than formats.
 */
const linesFor = (stream: string, turn: number): string[] =>
  allLinesFor(stream, turn).filter((line, at) =>
    sized(!READS.test(line) || (at + Math.floor(turn / 5)) % 3 === 0, true),
  )

const READS = /^(show|log|tail|stats|doctor|wait|export) |--dry-run/

const allLinesFor = (stream: string, turn: number): string[] => [
  ...inFormats(turn, `show ${stream}`),
  ...inFormats(turn, `show ${stream} --select //Event`, / html$/),
  ...inFormats(turn, `log ${stream}`),
  ...inFormats(turn, `tail ${stream} -n all`),
  ...inFormats(turn, `stats ${stream}`),
  ...inFormats(turn, `doctor ${stream}`),
  ...inFormats(turn, `wait ${stream} --within 0s`),
  `wait ${stream} --within 0s --for event=1:completed`,
  ...inFormats(turn, `export ${stream}`),
  `export ${stream} --to ${folder}/files -o json`,
  `export ${stream} --to sqlite:${folder}/copies.db`,
  ...inFormats(turn, `cancel ${stream} --dry-run`),
  `event set ${stream} 00 --tag t`,
  ...inFormats(turn, `show ${stream} --at 1`, / xml$/),
  ...['tree', 'table', 'json', 'yaml'].map(format => `show ${stream} --diff 1 -o ${format}`),
  `event start ${stream} 1 --owner w`,
  `cancel ${stream} -e 2`,
  ...inFormats(turn, `abort ${stream} --reason x`),
  ...inFormats(turn, `retry ${stream} --dry-run`),
  `retry ${stream}`,
  ...inFormats(turn, `log ${stream}`),
  ...['tree', 'table', 'json', 'yaml'].map(format => `show ${stream} --diff 1 -o ${format}`),
]

/** Commands on all streams; in the small size each in its first format, and in each of the others on some of them. */
const linesForAll = (): string[] => [
  ...inEachFormat('ls'),
  ...['table', 'json', 'yaml'].map(format => `ls --group-by waiting-on -o ${format}`),
  'ls --group-by failure -o json',
  ...inEachFormat('check'),
  ...onSome(inEachFormat('doctor --all')),
  ...onSome(inEachFormat('log --all')),
  ...onSome(inEachFormat('tail --all')),
  ...onSome(inEachFormat('stats --all')),
  ...onSome(['chrome', 'otlp'].map(format => `export --all -o ${format} --to ${folder}/all.${format}`)),
  `export --all --to ${folder}/all`,
  'wait --all --within 0s',
  'watchdog --once --dry-run',
  'work --name E --once -- true',
  'cancel --all --dry-run',
]

/** The command in each format, or in one of them by turns. @param without formats that it does not have */
function inFormats(turn: number, line: string, without?: RegExp): string[] {
  const lines = inEachFormat(line).filter(one => without?.test(one) !== true)
  return sized(
    lines.filter((_, at) => at === turn % lines.length),
    lines,
  )
}

/** The lines, in the small size all but the first on a tenth of the streams, by turns. */
function onSome(lines: readonly string[]): readonly string[] {
  return sized(
    lines.map((line, at) => (at === 0 ? line : line.replace('--all', `--match s*${at}`))),
    lines,
  )
}

function inEachFormat(line: string): string[] {
  const [name] = line.split(' ')
  const command = allCommands().find(known => known.name() === name)
  if (command === undefined) throw new Error(`no command ${name}`)
  return formatsOf(command).map(format => `${line} -o ${format}`)
}

interface Task {
  readonly line: string
  /** The maximum output of the command, bytes. */
  readonly mayPrint: number
}

/** 1 is a bug, and 2 a useless command line. */
const SURVIVED = [0, 3, 5, 6, 7, 8, 9, 12, 124]

test('each command, in each of its formats, needs only a small heap on each document', {
  timeout: sized(600_000, 3_600_000),
}, async () => {
  const sizes = await storeAll()
  const tasks = [...sizes].flatMap(([stream, size], turn) =>
    linesFor(stream, turn).map(line => ({ line, mayPrint: size * MAX_PRINTED + ROOM_BYTES })),
  )
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  tasks.push(...linesForAll().map(line => ({ line, mayPrint: all * MAX_PRINTED + ROOM_BYTES })))
  const ends = await runAll(tasks, HEAP_MB)
  expect(ends.filter(({ wrong }) => wrong !== undefined)).toEqual([])
  row.injected('commands with a small heap on large documents', ends.length)
})

test('the test detects a command that exceeds its heap, and runs the others', { timeout: 120_000 }, async () => {
  await storeAll()
  const line = 'show s0 -o json'
  const tooSmall = await runAll([{ line, mayPrint: 1e9 }], 8)
  expect(tooSmall).toMatchObject([{ wrong: expect.stringContaining('heap') }])
  const printed = await runAll(
    [
      { line, mayPrint: 10 },
      { line: 'show s0 --at', mayPrint: 1e9 },
    ],
    HEAP_MB,
  )
  expect(printed).toMatchObject([
    { wrong: expect.stringContaining('bytes') },
    { wrong: expect.stringContaining('exit 2') },
  ])
  row.control('a heap that is too small', tooSmall[0]?.wrong !== undefined)
})

/** @returns sizes of the documents in bytes, by stream name */
async function storeAll(): Promise<ReadonlyMap<string, number>> {
  const listed = await summaryAfter('init s')
  const store = openSqliteStore(storePath())
  const sizes = new Map<string, number>()
  for (const [at, { text }] of LARGE_DOCUMENTS.entries()) {
    const body = Buffer.from(text(EVENTS))
    sizes.set(`s${at}`, body.length)
    await store.create(`s${at}`, body, listed)
  }
  await store.close()
  return sizes
}

const storePath = () => join(folder, 'streams.db')

interface End {
  readonly line: string
  /** `undefined` if there is no problem. */
  readonly wrong?: string
}

/** One after the other in one process; in a new one after the heap was exhausted. */
async function runAll(tasks: readonly Task[], heapMb: number): Promise<readonly End[]> {
  const ends: End[] = []
  while (ends.length < tasks.length) {
    const rest = tasks.slice(ends.length)
    const said = await run(rest, heapMb)
    ends.push(...rest.slice(0, said.ends.length).map((task, at) => judged(task, said.ends[at])))
    const died = rest[said.ends.length]
    if (died !== undefined)
      ends.push({ line: described(died), wrong: `the heap of ${heapMb} MB is full: ${said.stderr.slice(0, 200)}` })
  }
  return ends
}

interface Said {
  readonly exit: number
  readonly bytes: number
  readonly stderr: string
}

function judged(task: Task, said: Said | undefined): End {
  const line = described(task)
  // Not every document has an event of this id.
  if (said?.stderr.includes('[invalid-value]')) return { line }
  if (said === undefined || !SURVIVED.includes(said.exit)) return { line, wrong: `exit ${said?.exit}: ${said?.stderr}` }
  return said.bytes > task.mayPrint ? { line, wrong: `prints ${said.bytes} bytes of ${task.mayPrint}` } : { line }
}

function described({ line }: Task): string {
  const [, at] = / s(\d+)\b/.exec(line) ?? []
  return at === undefined ? line : `${line} (${LARGE_DOCUMENTS[Number(at)]?.what})`
}

async function run(tasks: readonly Task[], heapMb: number): Promise<{ ends: readonly Said[]; stderr: string }> {
  const program = join(import.meta.dirname, 'child-memory.ts')
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, program], {
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, LEASECTL_STORE: `sqlite:${storePath()}`, ...COMPILED },
    stdio: 'pipe',
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  // It may exit before it has read all input.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(tasks.map(({ line }) => line.split(' '))))
  const ended = new Promise(resolve => child.on('close', resolve))
  const ends: Said[] = []
  for await (const line of createInterface({ input: child.stdout })) ends.push(JSON.parse(line))
  await ended
  return { ends, stderr }
}
