import type { Command, Option } from 'commander'
import { pathOf } from '../../cli/command.ts'
import { readContexts } from '../../cli/contexts/contexts.ts'
import type { Runtime, StoreChoice } from '../../cli/runtime.ts'
import { isRepeatable } from '../../cli/values.ts'
import { timeText } from '../../formats/terminal/numbers.ts'
import { readStream } from '../../ops/read-stream.ts'
import { SUBSCRIPTIONS } from '../../ops/read-system-document.ts'
import type { ListQuery, StreamRow, StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import { type CursorPlace, commandNamed } from './line.ts'

/** The candidates at the cursor that begin with the typed text. */
export async function candidatesAt(
  place: CursorPlace,
  current: string,
  program: Command,
  runtime: Runtime,
): Promise<Candidates> {
  const { kind, found } = await offeredAt(place, current, program, runtime)
  return { kind, found: found.filter(({ text }) => text.startsWith(current)) }
}

async function offeredAt(place: CursorPlace, current: string, program: Command, runtime: Runtime): Promise<Candidates> {
  const { command, operands, wanted } = place
  switch (wanted.kind) {
    case 'flag':
      return words(flagsOf(command))
    case 'value': {
      const typed = current.slice(wanted.lead.length)
      const { kind, found } = await valuesOf(wanted.option, typed, place, runtime)
      return { kind, found: found.map(({ text, ...what }) => ({ text: wanted.lead + text, ...what })) }
    }
    case 'operand': {
      if (command.name() === 'help') return words(await helpWords(program, operands))
      if (command.commands.length > 0 && (operands.length === 0 || operands[0] === 'help'))
        return words(commandsOf(command))
      const name = argumentName(command, operands.length)
      if (name === undefined) return words(wanted.flags ? flagsOf(command) : [])
      return argumentsOf(name, current, place, runtime)
    }
    default:
      return wanted satisfies never
  }
}

function words(found: readonly CompletionWord[]): Candidates {
  return { kind: 'words', found }
}

const FILES: Candidates = { kind: 'files', found: [] }

function commandsOf(command: Command): CompletionWord[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.map(sub => ({ text: sub.name(), what: sub.summary() || sub.description() }))
}

function flagsOf(command: Command): CompletionWord[] {
  const visible = command.createHelp().visibleOptions(command)
  return visible.map(({ long, short, description }) => ({ text: long ?? short ?? '', what: description }))
}

/** The name of the argument at a position; the last argument can be variadic. */
function argumentName({ registeredArguments }: Command, at: number): string | undefined {
  const last = registeredArguments.at(-1)
  return (registeredArguments[at] ?? (last?.variadic ? last : undefined))?.name()
}

async function argumentsOf(name: string, typed: string, place: CursorPlace, runtime: Runtime): Promise<Candidates> {
  const { command, operands } = place
  switch (name) {
    case 'STREAM':
      // a new stream needs a new name
      if (command.name() === 'init') return words([])
      if (command.registeredArguments[0]?.name() === 'SUBSCRIPTION') {
        const halted = await haltedStreams(operands[0], storeOf(place, runtime))
        return words(halted.filter(({ text }) => !operands.includes(text, 1)))
      }
      // One that begins with - would be taken for a flag.
      return words(
        (await streamNames(typed, storeOf(place, runtime))).filter(
          ({ text }) => !operands.includes(text) && !text.startsWith('-'),
        ),
      )
    case 'ID':
      return words(await eventIds(operands[0], storeOf(place, runtime)))
    case 'CONTEXT':
      return words(contexts(runtime))
    case 'NAME':
      return words(await inboxes(place, runtime))
    case 'RUN':
      return runs(typed, runtime)
    case 'SUBSCRIPTION':
      return words(await subscriptions(storeOf(place, runtime)))
    case 'COMMAND':
    case 'FILE':
    case 'FOLDER':
    case 'PATH':
    case 'SOURCE':
      return FILES
    default: {
      const argument = command.registeredArguments.find(known => known.name() === name)
      return words(wordsOf(argument?.parseArg).map(text => ({ text })))
    }
  }
}

async function valuesOf(option: Option, typed: string, place: CursorPlace, runtime: Runtime): Promise<Candidates> {
  const known = wordsOf(option.parseArg)
  if (known.length > 0)
    return words(
      listed(
        known.map(text => ({ text })),
        typed,
      ),
    )
  switch (option.long) {
    case '--context':
      return words(isRepeatable(option.parseArg) ? listed(contexts(runtime), typed) : contexts(runtime))
    case '--rerun':
      return runs(typed, runtime, pathOf(place.command))
    case '--as':
      return words(await subscriptions(storeOf(place, runtime)))
    case '--event':
      return words(await eventIds(place.operands[0], storeOf(place, runtime)))
    case '--store':
      return typed.startsWith('sqlite:') ? FILES : { kind: 'open', found: SCHEMES }
    default:
      return /<(file|folder|path|target)>/.test(option.flags) ? FILES : words([])
  }
}

const SCHEMES: readonly CompletionWord[] = [
  { text: 'sqlite:', what: 'PATH of a file' },
  { text: 'azure:', what: 'ACCOUNT/CONTAINER' },
  { text: 'azurite:', what: 'CONTAINER on the emulator' },
]

/** The words of a list separated by commas, without those already in it. */
function listed(known: readonly CompletionWord[], typed: string): CompletionWord[] {
  const lead = typed.slice(0, typed.lastIndexOf(',') + 1)
  const given = lead.split(',')
  return known.filter(({ text }) => !given.includes(text)).map(({ text, ...what }) => ({ text: lead + text, ...what }))
}

/** The run files of a command, or of all; a path is completed by the shell. */
async function runs(typed: string, { env, nowMs }: Runtime, verb?: string): Promise<Candidates> {
  if (/^[./~]/.test(typed)) return FILES
  const { LAST_RUN, runFilesOf } = await import('../batch/run-file/names.ts')
  const files = (await runFilesOf(env)).filter(file => verb === undefined || file.verb === verb)
  if (files.length === 0) return FILES
  const found = files.map(file => ({
    text: file.name,
    what: `${file.verb}, ${timeText(file.startedMs, nowMs(), 'relative')} ago`,
  }))
  return words([{ text: LAST_RUN, what: 'the latest of them' }, ...found])
}

/** The words that `withWords` attached to a parser. */
function wordsOf(parser: unknown): readonly string[] {
  if (typeof parser !== 'function' || !('words' in parser) || !Array.isArray(parser.words)) return []
  return parser.words.map(String)
}

function contexts({ env }: Runtime): CompletionWord[] {
  try {
    return [...readContexts(env).byName.values()].map(({ name, store }) => ({ text: name, what: store }))
  } catch {
    return []
  }
}

async function helpWords(program: Command, operands: readonly string[]): Promise<CompletionWord[]> {
  let at: Command | undefined = program
  for (const word of operands) at = at && commandNamed(at, word)
  if (at === undefined) return []
  if (at !== program) return commandsOf(at)
  const { TOPICS } = await import('../help/topics.ts')
  return [...commandsOf(program), ...Object.keys(TOPICS).map(text => ({ text, what: 'topic' }))]
}

function storeOf({ given: { store, container, context } }: CursorPlace, runtime: Runtime): LiveStore {
  const choice = defined({ store, container, context })
  return { choice, runtime }
}

/** A candidate for the word at the cursor. */
export interface CompletionWord {
  readonly text: string
  /** A short explanation. */
  readonly what?: string
}

export interface Candidates {
  /** `open`: no space follows the word. `files`: the shell completes file names. */
  readonly kind: 'words' | 'open' | 'files'
  readonly found: readonly CompletionWord[]
}

/** The store that the line selects. */
interface LiveStore {
  readonly choice: StoreChoice
  readonly runtime: Runtime
}

/** Time limit, ms. With the start of the process the shell waits for less than a second. */
const TIMEOUT_MS = 550
/** More names than a user reads through. */
const MAX_NAMES = 200

/** Names of streams with this beginning, at most a page. None if the store does not answer in time. */
export function streamNames(start: string, where: LiveStore): Promise<readonly CompletionWord[]> {
  return queried(where, async (store, signal) => {
    const page = await names(store, { prefix: start, limit: MAX_NAMES, signal })
    const shared = page.length < MAX_NAMES ? start : commonStart(page.map(({ name }) => name))
    // The shell completes the common beginning of all candidates. A page of a longer list can have a longer one than the
    // whole list: then one name beyond it is added.
    const beyond =
      shared === start ? [] : await names(store, { prefix: start, after: `${shared}\ufffd`, limit: 1, signal })
    return [...page, ...beyond].map(({ name, summary }) => ({ text: name, ...(summary && { what: summary.status }) }))
  })
}

/** Names of subscriptions. */
function subscriptions(where: LiveStore): Promise<readonly CompletionWord[]> {
  return queried(where, async (store, signal) => {
    const found = new Set<string>()
    for await (const page of store.list({ prefix: SUBSCRIPTIONS, reserved: true, signal })) {
      for (const { name } of page) found.add(name.slice(SUBSCRIPTIONS.length).split('/', 1)[0] ?? '')
    }
    return [...found].map(text => ({ text }))
  })
}

/** Names of inboxes, where the command has one that is there. */
function inboxes(place: CursorPlace, runtime: Runtime): Promise<readonly CompletionWord[]> {
  const path = pathOf(place.command)
  if (!path.startsWith('inbox ') || path === 'inbox create') return Promise.resolve([])
  return queried(storeOf(place, runtime), async (store, signal) => {
    const { inboxNames } = await import('../../inbox/manage.ts')
    return (await inboxNames(store, signal)).map(text => ({ text }))
  })
}

/** Streams of a subscription that do not go on: only these can be retried or skipped. */
function haltedStreams(subscription: string | undefined, where: LiveStore): Promise<readonly CompletionWord[]> {
  if (subscription === undefined) return Promise.resolve([])
  return queried(where, async (store, signal) => {
    const { parkedOf } = await import('../../subscriptions/read.ts')
    const halted = (await parkedOf(store, subscription, signal)) ?? []
    return halted.slice(0, MAX_NAMES).map(({ stream, state, why }) => ({ text: stream, what: `${state}: ${why}` }))
  })
}

/** Ids of a stream's events. */
function eventIds(stream: string | undefined, where: LiveStore): Promise<readonly CompletionWord[]> {
  if (stream === undefined) return Promise.resolve([])
  return queried(where, async (store, signal) => {
    const view = await readStream(store, stream, signal)
    return (view?.stream.events ?? []).map(({ id, name, status }) => ({ text: id, what: `${name} ${status}` }))
  })
}

async function names(store: StreamStore, query: ListQuery): Promise<readonly StreamRow[]> {
  for await (const page of store.list(query)) return page
  return []
}

function commonStart(texts: readonly string[]): string {
  const first = texts[0] ?? ''
  let end = first.length
  for (const text of texts) while (!text.startsWith(first.slice(0, end))) end--
  return first.slice(0, end)
}

/** Queries the store without a sign-in. Returns no candidates on errors and after the timeout. */
async function queried(
  { choice, runtime }: LiveStore,
  query: (store: StreamStore, signal: AbortSignal) => Promise<readonly CompletionWord[]>,
): Promise<readonly CompletionWord[]> {
  const timeout = new AbortController()
  const { promise: tooLate, resolve } = Promise.withResolvers<readonly CompletionWord[]>()
  const timer = setTimeout(() => {
    resolve([])
    timeout.abort()
  }, TIMEOUT_MS)
  const answer = runtime
    .openStore(choice, { signIn: false })
    .then(({ store }) => query(store, timeout.signal))
    .catch(() => [])
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
