import { confirmByTyping, confirmYesNo, placeText } from '../../cli/confirm.ts'
import { containerCreator } from '../../cli/create-container.ts'
import { exitOfRefusal } from '../../cli/exit-codes.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { isListFormat, openOutput, writeList } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument, jsonTime } from '../../formats/json.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { table } from '../../formats/terminal/table.ts'
import { blockedKeys, mayGoOn } from '../../inbox/drain/blocked-keys.ts'
import { readDeadLetters } from '../../inbox/drain/dead-letters.ts'
import { createInbox, DEFAULT_PARTITIONS, type Inbox } from '../../inbox/inbox.ts'
import { partitionStates, totalLag } from '../../inbox/lag.ts'
import { inboxNames, removeInbox } from '../../inbox/manage.ts'
import { type InboxView, partitionFault, type UnreadableInbox, viewInbox, viewInboxes } from '../../inbox/view.ts'
import { visibleText } from '../../util/visible-text.ts'
import { findInbox } from './find.ts'
import {
  blockedJson,
  blockedLines,
  faultLines,
  flowText,
  INBOX_COLUMNS,
  INBOX_FIELDS,
  inboxJson,
  inboxRow,
  lagText,
  PARTITION_COLUMNS,
  partitionJson,
  partitionRow,
} from './text.ts'

export type InboxOptions = GlobalOptions

export interface CreateOptions extends GlobalOptions {
  readonly name: string
  readonly partitions?: number
  readonly by?: string
  readonly createContainer?: boolean
}

/** Creates an inbox, or says that it is there. */
export async function createOne(options: CreateOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { name, partitions = DEFAULT_PARTITIONS, by = runtime.actor } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const create = () => createInbox(store, name, partitions, { by, signal: runtime.signal })
  const outcome = await containerCreator(store, options.createContainer)(create)
  if (outcome.kind === 'busy') return busy(name)
  if (!('inbox' in outcome))
    return problem('unknown', `whether the inbox ${name} was created is not known`, {
      applied: 'unknown',
      hint: 'Repeat the command.',
    })
  const { inbox } = outcome
  if (outcome.kind === 'exists' && inbox.partitions !== (options.partitions ?? inbox.partitions)) {
    return problem('exists', `the inbox ${name} has ${counted(inbox.partitions, 'partition')}, not ${partitions}`, {
      exit: exitOfRefusal('exists'),
      hint: 'Their number is fixed: the records of a key stay in one partition. Create another inbox.',
    })
  }
  const word = outcome.kind === 'created' ? 'created' : 'already there'
  if (options.output === 'json') {
    const fields = { inbox: name, outcome: outcome.kind === 'created' ? 'done' : 'already', ...createdJson(inbox) }
    await output.text(jsonDocument(fields))
  } else await output.lines([`✓ ${name}  ${word}  ${counted(inbox.partitions, 'partition')}`])
  return undefined
}

function createdJson({ partitions, createdMs, by }: Inbox) {
  return { partitions, created: jsonTime(createdMs), by }
}

function busy(name: string, holder?: string): Problem {
  const by = holder === undefined ? '' : ` by ${visibleText(holder)}`
  return problem('lease-held', `the inbox ${name} is in use${by}; nothing was changed`, { hint: 'Try it again.' })
}

/** Bytes of a partition that are read to count what waits: little for a list, more for one inbox. */
const COUNTED_IN_LIST = 256 * 1024
const COUNTED_IN_ONE = 8 * 1024 * 1024

/** Lists the inboxes of the store. */
export async function listAll(options: InboxOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  if (options.output === 'name') {
    await output.lines(await inboxNames(store, runtime.signal))
    return undefined
  }
  const rows: (InboxView | UnreadableInbox)[] = []
  for await (const view of viewInboxes(store, { countedBytes: COUNTED_IN_LIST, signal: runtime.signal }))
    rows.push(view)
  if (isListFormat(options.output)) {
    const writing = { fields: INBOX_FIELDS, rest: { total: rows.length } }
    await writeList(options.output, rows.map(inboxJson), writing, output)
  } else {
    const { width, paint, time } = output
    const cells = rows.map(row => inboxRow(row, store.nowMs(), time))
    await output.lines(table(INBOX_COLUMNS, cells, { paint, ...(width === undefined ? {} : { width }) }))
  }
  for (const line of rows.flatMap(faultLines)) await output.say(`warning: ${line}`)
  if (rows.length === 0) await output.say('no inboxes; inbox create makes one')
  return undefined
}

/** Shows the partitions of an inbox. */
export async function showOne(
  options: InboxOptions & { readonly name: string },
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const inbox = await findInbox(store, options.name, runtime)
  const view = await viewInbox(store, inbox, { countedBytes: COUNTED_IN_ONE, signal: runtime.signal })
  const blocked = blockedKeys(await readDeadLetters(store, inbox, runtime.signal))
  if (options.output === 'json') {
    await output.text(
      jsonDocument({
        ...inboxJson(view),
        blocked: blocked.map(blockedJson),
        items: view.partitions.map(partitionJson),
      }),
    )
    return undefined
  }
  const { width, paint, time } = output
  const rows = view.partitions.map(one => partitionRow(one, store.nowMs(), time))
  await output.lines([
    `${inbox.name}  ${counted(inbox.partitions, 'partition')}  ${lagText(view.lag, store.nowMs())}`,
    flowText(view),
    ...table(PARTITION_COLUMNS, rows, { paint, ...(width === undefined ? {} : { width }) }),
    ...blockedLines(inbox.name, blocked),
  ])
  for (const line of faultLines(view)) await output.say(`warning: ${line}`)
  return undefined
}

export interface RemoveInboxOptions extends GlobalOptions {
  readonly name: string
  readonly force?: boolean
  readonly yes?: boolean
}

/** Removes an inbox after a question; one with records that are not drained only with `--force`. */
export async function removeOne(options: RemoveInboxOptions, runtime: Runtime): Promise<Problem | undefined> {
  const { name, force, yes } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const inbox = await findInbox(store, name, runtime)
  const states = await partitionStates(store, inbox, { countedBytes: COUNTED_IN_LIST, signal: runtime.signal })
  const letters = await readDeadLetters(store, inbox, runtime.signal)
  const { records, isEstimate } = totalLag(states)
  // Records that wait behind a dead letter, or were retried and wait for their drain, have done nothing wrong.
  const lag = { records: records + letters.filter(mayGoOn).length, isEstimate }
  const dead = letters.filter(letter => !mayGoOn(letter)).length
  const faults = states.flatMap(state => partitionFault(state) ?? [])
  if (lag.records > 0 && !force) {
    const state = faults.length === 0 ? ' not drained' : `, and how many are drained is not known: ${faults.join('; ')}`
    return problem('not-drained', `the inbox ${name} has ${recordsText(lag)}${state}`, {
      exit: exitOfRefusal('not-drained'),
      hint: 'Drain it first, or use --force: the records are lost then.',
    })
  }
  const lost = `${recordsText(lag)} not drained${dead === 0 ? '' : ` and ${counted(dead, 'dead letter')}`}`
  const what = `This permanently removes the inbox ${name}, ${lost}, in ${placeText(runtime.opened)}`
  const isProtected = runtime.opened?.isProtected ?? false
  const declined = yes
    ? undefined
    : await (isProtected ? confirmByTyping(name, what, '--yes', runtime) : confirmYesNo(what, '--yes', runtime))
  if (declined !== undefined) return declined
  const outcome = await removeInbox(store, inbox, runtime.signal)
  if (outcome.kind === 'held') return busy(name, outcome.by)
  if (outcome.kind === 'unknown')
    return problem('unknown', `whether all of the inbox ${name} was removed is not known`, {
      applied: 'unknown',
      hint: 'Repeat the command.',
    })
  if (options.output === 'json')
    await output.text(jsonDocument({ inbox: name, outcome: 'done', records: lag.records, isEstimate: lag.isEstimate }))
  else await output.lines([`✓ ${name}  removed${lag.records + dead === 0 ? '' : `  ${lost}`}`])
  return undefined
}

function recordsText({ records, isEstimate }: { readonly records: number; readonly isEstimate: boolean }): string {
  return `${isEstimate ? 'about ' : ''}${counted(records, 'record')}`
}
