import { interruptedProblem } from '../../../cli/error-problem.ts'
import { openOutput } from '../../../cli/output.ts'
import { EndsWith, type Problem, UsageError } from '../../../cli/problem.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { openStoreFor } from '../../../cli/store.ts'
import { VERSION } from '../../../cli/version.ts'
import type { ListenAddress, Listening } from '../../../http/listen.ts'
import type { Inbox } from '../../../inbox/inbox.ts'
import type { RegionsWriter } from '../../../inbox/regions/writer.ts'
import { openServeMetrics } from '../../../inbox/serve/metrics.ts'
import { type InboxStores, type ServedInbox, ServedInboxes } from '../../../inbox/serve/served-inboxes.ts'
import { InboxServer } from '../../../inbox/serve/server.ts'
import { BearerTokens } from '../../../inbox/serve/tokens.ts'
import { InboxWriter, type RecordWriter } from '../../../inbox/writer.ts'
import { takeAsSigterm } from '../../../process/as-sigterm.ts'
import type { StreamStore } from '../../../store/store.ts'
import { InvalidValue } from '../../../stream/errors.ts'
import { sleepUntilAborted } from '../../../util/concurrency.ts'
import { defined } from '../../../util/defined.ts'
import { isLoopback } from '../../../util/loopback.ts'
import { secretFile } from '../../watchdog/hook-targets.ts'
import { type Entry, stoppingEntry } from '../../watchdog/log/entries.ts'
import { openSink } from '../../watchdog/log/sink.ts'
import { findInbox } from '../find.ts'
import { recordFields } from '../record-flags.ts'
import { openTwoRegions } from '../regions.ts'
import { ServeLog } from './log.ts'
import type { ServeInboxOptions } from './options.ts'

const DEFAULT_ADDRESS: ListenAddress = { host: '127.0.0.1', port: 8080 }
const TOKEN_VARIABLE = 'LEASECTL_INBOX_TOKEN'
const MAX_TOKEN_BYTES = 16 * 1024
/** For requests in flight after the signal, ms; the rest of the 10 s until the process is killed belongs to the store. */
const DRAIN_MS = 7_500

/** Serves until a signal arrives. */
export async function serveInboxes(options: ServeInboxOptions, runtime: Runtime): Promise<Problem | undefined> {
  const given = { ...DEFAULT_ADDRESS, ...options.listen }
  const warnings: string[] = []
  const tokens = await tokensOf(options, runtime, text => warnings.push(text))
  if (tokens === undefined && !isLoopback(given.host)) throw needsToken(given.host)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const note = await openSink(options, runtime)
  const log = new ServeLog(note, runtime)
  const { stores, inboxes, open, isRegionUp } = await openInboxes(store, options, runtime, text => log.region(text))
  const served = new ServedInboxes(stores, inboxes, { open, observer: log })
  const names = inboxes.map(({ inbox }) => inbox.name)
  const about = {
    version: VERSION,
    inboxes: names,
    isStoreThere: () => served.trouble === undefined,
    ...defined({ isRegionUp }),
  }
  const metrics = await openServeMetrics(() => server, about)
  const server: InboxServer = new InboxServer({
    address: { ...given, names: [runtime.host, ...(options.listenName ?? [])] },
    inboxes: served,
    fields: recordFields(options),
    ...defined({ tokens }),
    probes: {
      livez: () => ({ ok: true, reasons: ['alive'] }),
      readyz: () => readiness(server, served),
      metrics: () => metrics.page,
    },
    observer: {
      answered(status, inbox, records, tookMs) {
        log.answered(status, inbox, records)
        metrics.answered(status, inbox, records, tookMs)
      },
    },
  })
  using _signals = takeAsSigterm()
  try {
    const listening = await server.listen()
    if (tokens === undefined && !listening.isLoopback) {
      await server.stop()
      throw needsToken(given.host)
    }
    note(startEntry({ store: runtime.opened?.address ?? '', pid: runtime.pid, names, hasTokens: tokens !== undefined }))
    for (const text of warnings) note({ level: 'warn', kind: 'settings', text })
    note(listenEntry(listening, names))
    return await serve(server, served, log, note, runtime)
  } finally {
    metrics.close()
  }
}

/** The inboxes with their writers: into one store, or with `--also` into two. */
async function openInboxes(
  store: StreamStore,
  options: ServeInboxOptions,
  runtime: Runtime,
  tell: (sentence: string) => void,
): Promise<{
  readonly stores: InboxStores
  readonly inboxes: readonly ServedInbox[]
  open(inbox: Inbox): RecordWriter
  readonly isRegionUp?: (place: 'first' | 'second') => boolean
}> {
  const writing = defined({ lingerMs: options.linger })
  const inboxes: ServedInbox[] = []
  const writers = new Map<string, RegionsWriter>()
  let stores: InboxStores = [store]
  const open = (inbox: Inbox) => writers.get(inbox.name) ?? new InboxWriter(store, inbox, writing)
  for (const name of new Set(options.names)) {
    const regions = await openTwoRegions(name, options, store, runtime, { ...writing, tell })
    if (regions !== undefined) {
      writers.set(name, regions.writer)
      stores = [store, regions.also]
    }
    const inbox = regions?.inbox ?? (await findInbox(store, name, runtime))
    inboxes.push({ inbox, writer: open(inbox) })
  }
  if (writers.size === 0) return { stores, inboxes, open }
  const isRegionUp = (place: 'first' | 'second') => [...writers.values()].every(writer => !writer.isAway(place))
  return { stores, inboxes, open, isRegionUp }
}

async function serve(
  server: InboxServer,
  served: ServedInboxes,
  log: ServeLog,
  note: (entry: Entry) => void,
  { signal }: Runtime,
): Promise<Problem> {
  await served.watch(signal)
  note(stoppingEntry(String(signal.reason)))
  const startMs = performance.now()
  const isDrained = await Promise.race([server.stop().then(() => true), sleepUntilAborted(DRAIN_MS).then(() => false)])
  log.stopped(performance.now() - startMs)
  if (isDrained) throw new EndsWith(0)
  return interruptedProblem(signal)
}

function readiness(server: InboxServer, served: ServedInboxes) {
  const reasons = [
    ...(server.isStopping ? ['stopping'] : []),
    ...(served.trouble === undefined ? [] : [served.trouble]),
  ]
  return reasons.length === 0 ? { ok: true, reasons: ['ready'] } : { ok: false, reasons }
}

async function tokensOf(
  { tokenFile }: ServeInboxOptions,
  { env }: Runtime,
  warn: (text: string) => void,
): Promise<BearerTokens | undefined> {
  const fromEnvironment = env[TOKEN_VARIABLE]
  if (tokenFile === undefined && fromEnvironment === undefined) return undefined
  const called = tokenFile === undefined ? TOKEN_VARIABLE : `--token-file ${tokenFile}`
  const text = tokenFile === undefined ? fromEnvironment : await secretFile(tokenFile, called, MAX_TOKEN_BYTES, warn)
  try {
    return BearerTokens.read(text ?? '', called)
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new UsageError(error.message, { cause: error, hint: 'openssl rand -hex 32 makes a token.' })
  }
}

function needsToken(host: string): UsageError {
  return new UsageError(`other machines can reach ${host}: clients need a token`, {
    hint: `Give --token-file FILE, or set ${TOKEN_VARIABLE}; or listen on 127.0.0.1.`,
  })
}

function startEntry({
  store,
  pid,
  names,
  hasTokens,
}: {
  readonly store: string
  readonly pid: number
  readonly names: readonly string[]
  readonly hasTokens: boolean
}): Entry {
  return {
    level: 'info',
    kind: 'start',
    text: `leasectl ${VERSION} serves ${names.join(', ')} in ${store}`,
    fields: { version: VERSION, store, node: process.version, pid, inboxes: names, tokens: hasTokens },
  }
}

/** A warning if other machines can reach it, since probes and metrics need no token. */
function listenEntry({ address, isLoopback: isOwn }: Listening, names: readonly string[]): Entry {
  const what = `POST /inboxes/${names.length === 1 ? names[0] : 'NAME'} on http://${address}`
  return {
    level: isOwn ? 'info' : 'warn',
    kind: 'listen',
    text: isOwn ? what : `${what}: anyone who can reach this address can read /livez, /readyz and /metrics`,
    fields: { address, loopback: isOwn },
  }
}
