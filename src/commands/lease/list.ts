import { commandLine } from '../../cli/command-line.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { csvWriter, itemsWriter, type Output, openOutput, tableWriter, writeTexts } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { missingFile, openStoreFor } from '../../cli/store.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { heldLeaseJson, LEASE_FIELDS, type LeaseRow, leaseColumns, leaseRow } from '../../formats/lease.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { globOf } from '../../ops/glob.ts'
import { staleReasons } from '../../ops/stale-lease.ts'
import type { StreamStore } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import { formatTimeSpan } from '../../stream/time/durations.ts'
import { commandWords } from '../../util/strings.ts'
import { visibleText } from '../../util/visible-text.ts'

export interface ListLeasesOptions extends GlobalOptions {
  readonly match?: string
  /** Only leases that look abandoned: held for longer than this (ms), or stale for another reason. */
  readonly stale?: number
}

/** Default age of a stale lease, also without `--stale`. */
const STALE_AFTER_MS = 5 * 60_000

/** Lists held leases, page by page. The listing includes lease states, so no stream is read. */
export async function listLeases(options: ListLeasesOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const list = leaseOutput(options, store, output)
  const found: Found = { held: 0, stale: 0, firstStale: undefined }
  for await (const page of held(options, store, runtime)) {
    const stale = page.filter(lease => lease.stale.length > 0)
    found.held += page.length
    found.stale += stale.length
    found.firstStale ??= stale[0]?.listed.name
    const shown = options.stale === undefined ? page : stale
    if (shown.length > 0) await list.write(shown)
  }
  await list.end(options.stale === undefined ? found.held : found.stale)
  for (const line of closingLines(options, found, store, runtime)) await output.say(line)
  return undefined
}

interface Found {
  held: number
  stale: number
  firstStale: string | undefined
}

async function* held(
  { match, stale = STALE_AFTER_MS }: ListLeasesOptions,
  store: StreamStore,
  runtime: Runtime,
): AsyncGenerator<readonly LeaseRow[]> {
  const names = match === undefined ? undefined : globOf(match)
  const query = names === undefined ? {} : { prefix: names.prefix }
  for await (const page of store.list({ ...query, signal: runtime.signal })) {
    const rule = { nowMs: store.nowMs(), longerThanMs: stale, host: runtime.host, isRunning: runtime.isRunning }
    yield page
      .filter(({ name, lease }) => isHeld(lease) && names?.matches(name) !== false)
      .map(listed => ({ listed, stale: staleReasons(listed.lease, rule) }))
  }
}

interface LeaseOutput {
  write(leases: readonly LeaseRow[]): Promise<void>
  end(total: number): Promise<void>
}

function leaseOutput({ output: format, stale }: ListLeasesOptions, store: StreamStore, output: Output): LeaseOutput {
  if (format === 'json') {
    const items = itemsWriter(output)
    const texts = (leases: readonly LeaseRow[]) => leases.map(lease => jsonText(heldLeaseJson(lease), 0))
    return { write: leases => items.write(texts(leases)), end: total => items.end({ total }) }
  }
  if (format === 'ndjson') {
    const texts = (leases: readonly LeaseRow[]) => leases.map(lease => jsonLine(heldLeaseJson(lease)))
    return { write: leases => writeTexts(texts(leases), output), end: async () => {} }
  }
  if (format === 'csv') {
    const { record, write, end } = csvWriter(LEASE_FIELDS, output)
    return { write: leases => write(leases.map(lease => record(heldLeaseJson(lease)))), end }
  }
  if (format === 'name') {
    const texts = (leases: readonly LeaseRow[]) => leases.map(({ listed }) => `${visibleText(listed.name)}\n`)
    return { write: leases => writeTexts(texts(leases), output), end: async () => {} }
  }
  const why = stale !== undefined
  const table = tableWriter(leaseColumns(why), output)
  const row = (lease: LeaseRow) => leaseRow(lease, why, store.nowMs(), output.time)
  return { write: leases => table.write(leases.map(row)), end: () => table.end() }
}

function closingLines(
  options: ListLeasesOptions,
  { held, stale, firstStale }: Found,
  store: StreamStore,
  runtime: Runtime,
) {
  const where = `in ${visibleText(store.address)}`
  const leases = `${counted(held, 'lease')}${options.match === undefined ? '' : ' of matching streams'}`
  if (held === 0) return [nothingHeld(options, where, store)]
  if (firstStale === undefined) return options.stale === undefined ? [] : [`none of ${leases} ${where} looks stale`]
  if (options.stale === undefined) {
    return [`${countText(stale)} of ${leases} may be abandoned; --stale lists them with the reasons`]
  }
  const one = commandWords(['lease', 'break'], [firstStale])
  const words = stale === 1 ? one : breakAll(options.stale, options.match)
  return [
    'check the holder before you break a lease: its unfinished work would be lost',
    `try      ${visibleText(commandLine(runtime, words))}`,
  ]
}

/** The preview of breaking what is listed. */
function breakAll(stale: number, match: string | undefined): readonly string[] {
  const age = stale === STALE_AFTER_MS ? [] : [formatTimeSpan(stale)]
  return ['lease', 'break', '--stale', ...age, ...(match === undefined ? [] : ['--match', match]), '--dry-run']
}

function nothingHeld({ match }: ListLeasesOptions, where: string, store: StreamStore): string {
  const why = missingFile(store.address)
  const what = match === undefined ? 'no lease is held' : 'no matching stream is leased'
  return `${what} ${where}${why === undefined ? '' : `: ${why}`}`
}
