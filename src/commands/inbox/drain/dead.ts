import { isListFormat, type Output, openOutput, tableWriter, writeList } from '../../../cli/output.ts'
import { type Problem, problem } from '../../../cli/problem.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { openStoreFor } from '../../../cli/store.ts'
import { API_VERSION, jsonText, orNull } from '../../../formats/json.ts'
import { counted, timeText } from '../../../formats/terminal/numbers.ts'
import type { Column } from '../../../formats/terminal/table.ts'
import { BEHIND } from '../../../inbox/drain/blocked-keys.ts'
import {
  type DeadLetter,
  type DeadLetterEnd,
  readDeadLetters,
  settleDeadLetters,
} from '../../../inbox/drain/dead-letters.ts'
import { visibleName, visibleText } from '../../../util/visible-text.ts'
import { findInbox } from '../find.ts'
import type { DeadOptions, SettleDeadOptions, SomeDeadOptions } from './options.ts'

/** Lists the dead letters of an inbox. */
export async function listDead(options: DeadOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { letters, store } = await lettersIn(options, output, runtime)
  if (isListFormat(options.output))
    await writeList(options.output, letters.map(letterFields), { fields: LETTER_FIELDS }, output)
  else if (options.output === 'name') await output.lines(letters.map(({ letter }) => visibleText(letter)))
  else await listTable(letters, options, output, store.nowMs())
  return undefined
}

const LETTER_COLUMNS: readonly Column[] = [
  { title: 'LETTER' },
  { title: 'ID', give: 1, min: 12, cut: 'middle' },
  { title: 'DIED', align: 'right' },
  { title: 'WHY', give: 2, min: 20 },
]

async function listTable(
  letters: readonly DeadLetter[],
  { inbox }: DeadOptions,
  output: Output,
  nowMs: number,
): Promise<void> {
  if (letters.length === 0) {
    await output.say(`the inbox ${inbox} has no dead letters`)
    return
  }
  const table = tableWriter(LETTER_COLUMNS, output)
  await table.write(
    letters.map(({ letter, id, diedAt, ...died }) => [
      visibleText(letter),
      visibleText(id === '' ? '-' : id),
      timeText(Date.parse(diedAt), nowMs, output.time),
      whyText(died),
    ]),
  )
  await table.end()
}

/** `exists: the stream exists; blocks its key` */
function whyText({ code, why, blocks, isRetried }: Pick<DeadLetter, 'code' | 'why' | 'blocks' | 'isRetried'>): string {
  const state = isRetried ? '; retried: waits for its drain' : blocks && code !== BEHIND ? '; blocks its key' : ''
  return `${visibleText(code)}: ${visibleText(why)}${state}`
}

/** Shows dead letters with their records. */
export async function showDead(options: SomeDeadOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { letters } = await lettersIn(options, output, runtime)
  const chosen = chosenOf(letters, options)
  if (!Array.isArray(chosen)) return chosen
  if (options.output === 'json') {
    await output.text(`${jsonText({ apiVersion: API_VERSION, items: chosen.map(letterFields) })}\n`)
    return undefined
  }
  for (const [at, letter] of chosen.entries()) {
    if (at > 0) await output.lines([''])
    await output.lines(letterLines(letter))
  }
  return undefined
}

function letterLines({ letter, partition, id, key, stream, diedAt, by, line, isCut, ...died }: DeadLetter): string[] {
  const facts: readonly (readonly [string, string])[] = [
    ['letter', visibleText(letter)],
    ['id', visibleText(id)],
    ['key', visibleText(key)],
    ['partition', String(partition)],
    ['stream', stream === '' ? '' : visibleName(stream)],
    ['why', whyText(died)],
    ['died', `${visibleText(diedAt)} by ${visibleText(by)}`],
    [isCut ? 'begins' : 'record', visibleText(line)],
  ]
  return facts.filter(([, text]) => text !== '').map(([name, text]) => `${name.padEnd(9)} ${text}`)
}

/** Puts dead letters into the inbox again. */
export async function retryDead(options: SettleDeadOptions, runtime: Runtime): Promise<Problem | undefined> {
  return settle(options, 'retried', runtime)
}

/** Forgets dead letters. */
export async function dropDead(options: SettleDeadOptions, runtime: Runtime): Promise<Problem | undefined> {
  return settle(options, 'dropped', runtime)
}

async function settle(options: SettleDeadOptions, how: DeadLetterEnd, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { store, inbox, letters } = await lettersIn(options, output, runtime)
  const chosen = options.all ? letters : chosenOf(letters, options)
  if (!Array.isArray(chosen)) return chosen
  const cut = chosen.filter(({ isCut }) => isCut && how === 'retried')
  const behind = chosen.filter(letter => how === 'retried' && letter.blocks && letter.code === BEHIND)
  const settled = chosen.filter(letter => !cut.includes(letter) && !behind.includes(letter))
  await settleDeadLetters(store, inbox, settled, { how, by: options.by ?? runtime.actor, signal: runtime.signal })
  if (options.output === 'json') {
    const fields = { apiVersion: API_VERSION, inbox: inbox.name, outcome: how, letters: settled.map(letterName) }
    await output.text(`${jsonText(fields)}\n`)
  } else {
    await output.lines([`${how} ${counted(settled.length, 'dead letter')} of ${inbox.name}`])
  }
  const more = { applied: settled.length > 0 ? 'yes' : 'no', retryable: false } as const
  if (behind.length > 0 && !options.all) {
    return problem(
      'batch-incomplete',
      `${counted(behind.length, 'record')} only waits behind a dead letter of its key`,
      {
        ...more,
        hint: 'Retry or drop the first one of the key: the others follow by themselves.',
      },
    )
  }
  if (cut.length === 0) return undefined
  return problem('batch-incomplete', `${counted(cut.length, 'line')} too long to be kept whole cannot be tried again`, {
    ...more,
    hint: 'Put the records again from where they came, and drop these.',
  })
}

async function lettersIn(options: DeadOptions, output: Output, runtime: Runtime) {
  const store = await openStoreFor(options, runtime, output)
  const inbox = await findInbox(store, options.inbox, runtime)
  return { store, inbox, letters: await readDeadLetters(store, inbox, runtime.signal) }
}

/** Those that are named, in the order in which they died; or the problem that one is not there. */
function chosenOf(letters: readonly DeadLetter[], { letters: names, inbox }: SomeDeadOptions): DeadLetter[] | Problem {
  const missing = names.find(name => !letters.some(({ letter, id }) => letter === name || id === name))
  if (missing === undefined) return letters.filter(({ letter, id }) => names.includes(letter) || names.includes(id))
  return problem('no-match', `the inbox ${inbox} has no dead letter ${visibleText(missing)}`, {
    hint: `leasectl inbox dead ls ${inbox} lists them`,
  })
}

function letterName({ letter }: DeadLetter): string {
  return letter
}

const LETTER_FIELDS = [
  'letter',
  'id',
  'key',
  'partition',
  'stream',
  'code',
  'message',
  'diedAt',
  'by',
  'line',
  'isCut',
  'blocks',
  'isRetried',
] as const

function letterFields({
  letter,
  partition,
  id,
  key,
  stream,
  code,
  why,
  diedAt,
  by,
  line,
  isCut,
  blocks,
  isRetried,
}: DeadLetter) {
  return {
    letter,
    id: orNull(id || undefined),
    key: orNull(key || undefined),
    partition,
    stream: orNull(stream || undefined),
    code,
    message: why,
    diedAt,
    by,
    line,
    isCut,
    blocks,
    isRetried,
  }
}
