import { type ColumnList, SCREENS, type Screen, type SideList, SORTS, type Sort, type State } from './state.ts'

/** A column that can be chosen. */
export interface ColumnChoice {
  readonly title: string
  /** Key of the order by this column. */
  readonly sort?: string
  /** The shown values fall from row to row in its usual order: failures, ages. */
  readonly falls?: boolean
  /** Shows ages, or times, which fall where ages rise. */
  readonly isTime?: boolean
  /** Only with `w`, or when chosen. */
  readonly isMore?: boolean
}

/** The first column of a list of streams of several stores, which is always shown. */
export const STORE: ColumnChoice & { readonly sort: 'store' } = { title: 'STORE', sort: 'store' }

/** The columns of each list that has a choice. */
export const COLUMN_CHOICES = {
  streams: [
    { title: 'NAME', sort: 'name' },
    { title: 'STATUS', sort: 'status' },
    { title: 'BAR' },
    { title: 'PROGRESS', sort: 'progress' },
    { title: 'FAILED', sort: 'failed', falls: true },
    { title: 'WAITS / WHY' },
    { title: 'DUE', sort: 'due' },
    { title: 'AGE', sort: 'age', falls: true, isTime: true },
    { title: 'LEASE', sort: 'lease' },
    { title: 'CHANGES' },
    { title: 'VERSION', sort: 'version', falls: true, isMore: true },
    { title: 'ROOT', sort: 'root', isMore: true },
    { title: 'KEY', sort: 'key', isMore: true },
    { title: 'TOPIC', sort: 'topic', isMore: true },
    { title: 'CHANGED', sort: 'changed', isTime: true, isMore: true },
    { title: 'LAST BY', sort: 'by', isMore: true },
    { title: 'FAILURE', isMore: true },
  ],
  stream: [
    { title: 'EVENT' },
    { title: 'STATUS' },
    { title: 'OWNER' },
    { title: 'AGE' },
    { title: 'DUE' },
    { title: 'WAITS FOR' },
    { title: 'TRY', isMore: true },
    { title: 'FENCE', isMore: true },
    { title: 'TOPIC', isMore: true },
    { title: 'KEY', isMore: true },
    { title: 'TAG', isMore: true },
    { title: 'MESSAGE' },
  ],
  leases: [
    { title: 'STREAM', sort: 'name' },
    { title: 'SINCE', sort: 'since', falls: true, isTime: true },
    { title: 'ENDS' },
    { title: 'HOLDER', sort: 'holder' },
    { title: 'PROCESS' },
    { title: 'PURPOSE' },
    { title: 'LAST BY', sort: 'by', isMore: true },
  ],
  activity: [
    { title: 'WHEN', sort: 'when', isTime: true },
    { title: 'STREAM', sort: 'stream' },
    { title: 'WHO', sort: 'who' },
    { title: 'WHAT', sort: 'what' },
    { title: 'WHY', sort: 'why' },
    { title: 'VERSION', sort: 'version', falls: true, isMore: true },
    { title: 'COMMAND', isMore: true },
  ],
  watchdog: [
    { title: 'DUE', sort: 'due', isTime: true },
    { title: 'WILL', sort: 'will' },
    { title: 'STREAM', sort: 'stream' },
    { title: 'EVENT', sort: 'event' },
    { title: 'LIMIT', sort: 'limit' },
    { title: 'DRY RUN', sort: 'planned' },
  ],
  workers: [
    { title: 'WORKER', sort: 'worker' },
    { title: 'CLAIM', sort: 'claim' },
    { title: 'STREAM', sort: 'stream' },
    { title: 'EVENT', sort: 'event' },
    { title: 'SINCE', sort: 'since', falls: true, isTime: true },
    { title: 'SEEN', sort: 'seen', falls: true, isTime: true },
    { title: 'TRY', sort: 'attempt', falls: true },
    { title: 'DONE/MIN', sort: 'done', falls: true },
    { title: 'FAILED/MIN', sort: 'failed', falls: true },
  ],
  subscriptions: [
    { title: 'SUBSCRIPTION', sort: 'name' },
    { title: 'LAG', sort: 'lag', falls: true },
    { title: 'LAG BEFORE' },
    { title: 'RATE', sort: 'rate', falls: true },
    { title: 'WAITING', sort: 'waiting', falls: true },
    { title: 'PARKED', sort: 'parked', falls: true },
    { title: 'SHARDS', sort: 'held' },
    { title: 'RUN BY', sort: 'runner' },
    { title: 'STREAMS', sort: 'streams' },
    { title: 'DELIVERED', sort: 'delivered', falls: true, isMore: true },
    { title: 'CREATED', sort: 'created', isTime: true, isMore: true },
  ],
  halted: [
    { title: 'STREAM', sort: 'stream' },
    { title: 'STATE', sort: 'state' },
    { title: 'TRIES', sort: 'tries', falls: true },
    { title: 'SINCE', sort: 'since', falls: true, isTime: true },
    { title: 'NEXT', sort: 'next' },
    { title: 'WHY', sort: 'why' },
    { title: 'AFTER', sort: 'after', falls: true, isMore: true },
  ],
  inboxes: [
    { title: 'INBOX', sort: 'name' },
    { title: 'PARTS', sort: 'partitions', falls: true },
    { title: 'LAG', sort: 'lag', falls: true },
    { title: 'LAG BEFORE' },
    { title: 'OLDEST', sort: 'oldest', falls: true, isTime: true },
    { title: 'AGE BEFORE' },
    { title: 'IN', sort: 'in', falls: true },
    { title: 'OUT', sort: 'out', falls: true },
    { title: 'DEAD', sort: 'dead', falls: true },
    { title: 'DRAINED BY', sort: 'owner' },
    { title: 'SIZE', sort: 'size', falls: true, isMore: true },
    { title: 'DRAINED', sort: 'drained', falls: true, isMore: true },
    { title: 'CREATED', sort: 'created', isTime: true, isMore: true },
  ],
  partitions: [
    { title: 'PARTITION', sort: 'partition' },
    { title: 'LAG', sort: 'lag', falls: true },
    { title: 'OLDEST', sort: 'oldest', falls: true, isTime: true },
    { title: 'IN', sort: 'in', falls: true },
    { title: 'OUT', sort: 'out', falls: true },
    { title: 'DEAD', sort: 'dead', falls: true },
    { title: 'DRAINED BY', sort: 'owner' },
    { title: 'DRAINED', sort: 'drained', falls: true },
    { title: 'CHECKPOINT', sort: 'checkpoint', isTime: true },
    { title: 'SIZE', sort: 'size', falls: true, isMore: true },
  ],
  steps: [
    { title: 'STEP', sort: 'step' },
    { title: 'READY', sort: 'ready', falls: true },
    { title: 'RUNNING', sort: 'running', falls: true },
    { title: 'ABANDONED', sort: 'abandoned', falls: true },
    { title: 'OLDEST READY', sort: 'oldest', falls: true, isTime: true },
  ],
  watchdogs: [
    { title: 'STATE', sort: 'state' },
    { title: 'WATCHDOG', sort: 'watchdog' },
    { title: 'LAST PASS', sort: 'pass', isTime: true },
    { title: 'LAG' },
    { title: 'EVERY', sort: 'every' },
    { title: 'TOOK', sort: 'took', falls: true },
    { title: 'WATCHED', sort: 'watched', falls: true },
    { title: 'OVERDUE', sort: 'overdue', falls: true },
    { title: 'ENDED', sort: 'ended', falls: true },
    { title: 'BREAKER', sort: 'breaker' },
    { title: 'SHARDS' },
  ],
  decisions: [
    { title: 'DECIDED', sort: 'decided', isTime: true },
    { title: 'OUTCOME', sort: 'outcome' },
    { title: 'STREAM', sort: 'stream' },
    { title: 'EVENT', sort: 'event' },
    { title: 'LIMIT', sort: 'limit' },
    { title: 'LATE', sort: 'late', falls: true },
  ],
} as const satisfies { readonly [Of in ColumnList]: readonly ColumnChoice[] }

export type TitleOf<Of extends ColumnList> = (typeof COLUMN_CHOICES)[Of][number]['title']

/** The lists of a screen, that with the cursor first: timeline and XML have none. */
export function columnListsOf({ screen, pane }: Pick<State, 'screen' | 'pane'>): readonly ColumnList[] {
  if (screen === 'stream' && pane !== 'tree') return []
  return [screen, ...(SIDE_LISTS[screen] ?? [])]
}

const SIDE_LISTS: { readonly [Of in Screen]?: readonly SideList[] } = {
  workers: ['steps'],
  watchdog: ['watchdogs', 'decisions'],
  subscriptions: ['halted'],
  inboxes: ['partitions'],
}

/** The order of a list. */
export function sortOf({ lists, sideSorts }: Pick<State, 'lists' | 'sideSorts'>, list: ColumnList): Sort {
  const chosen = isScreen(list) ? lists[list].sort : sideSorts[list]
  return chosen ?? { by: SORTS[list][0] ?? '', isDescending: false }
}

/** Orders a list. `undefined`: its usual order. */
export function withSortOf(state: State, list: ColumnList, sort: Sort | undefined): State {
  if (!isScreen(list)) return { ...state, sideSorts: { ...state.sideSorts, [list]: sort } }
  return { ...state, lists: { ...state.lists, [list]: { ...state.lists[list], sort } } }
}

function isScreen(list: ColumnList): list is Screen {
  return SCREENS.some(screen => screen === list)
}

/** All columns of a list in order: the chosen ones, then the others. */
export function orderedColumns(state: ColumnState, list: ColumnList): readonly ColumnChoice[] {
  const all: readonly ColumnChoice[] = COLUMN_CHOICES[list]
  const chosen = chosenTitles(state, list)
  if (chosen === undefined) return all
  const first = chosen.map(title => all.find(column => column.title === title)).filter(column => column !== undefined)
  return [...first, ...all.filter(column => !first.includes(column))]
}

type ColumnState = Pick<State, 'settings' | 'dialog' | 'isWide'>

/** Titles of the shown columns in order. `w` adds the others and takes none away. */
export function shownTitles(state: ColumnState, list: ColumnList): readonly string[] {
  const chosen = chosenTitles(state, list)
  return orderedColumns(state, list)
    .filter(({ title, isMore }) => state.isWide || (chosen === undefined ? !isMore : chosen.includes(title)))
    .map(({ title }) => title)
}

/** While they are chosen, those of the dialog. `undefined`: the usual ones. A file may name columns of another version. */
function chosenTitles({ settings, dialog }: ColumnState, list: ColumnList): readonly string[] | undefined {
  if (dialog?.kind === 'columns' && dialog.list === list) return dialog.shown
  const known = settings.columns[list]?.filter(title => titlesOf(list).includes(title)) ?? []
  return known.length === 0 ? undefined : known
}

/** The key of the order by a column; `undefined` if rows cannot be sorted by it. */
export function sortOfTitle(list: ColumnList, title: string): string | undefined {
  const all: readonly ColumnChoice[] = [...COLUMN_CHOICES[list], ...(isOfStreams(list) ? [STORE] : [])]
  return all.find(column => column.title === title)?.sort
}

/** Whether each row of the list is a stream. */
export function isOfStreams(list: ColumnList): boolean {
  return list === 'streams' || list === 'leases'
}

export function titlesOf(list: ColumnList): readonly string[] {
  return COLUMN_CHOICES[list].map(({ title }) => title)
}

/** The titles of the usual columns. */
export function usualTitles(list: ColumnList): readonly string[] {
  const all: readonly ColumnChoice[] = COLUMN_CHOICES[list]
  return all.filter(({ isMore }) => !isMore).map(({ title }) => title)
}

/** The choice of a list, from words such as `name,status,why`: titles or their beginnings. */
export function titlesNamed(
  list: ColumnList,
  words: readonly string[],
): readonly string[] | { readonly wrong: string } {
  const found: string[] = []
  for (const word of words) {
    const title = titlesOf(list).find(one => isNamed(one, word)) ?? titlesOf(list).find(one => begins(one, word))
    if (title === undefined) return { wrong: word }
    if (!found.includes(title)) found.push(title)
  }
  return found
}

/** `why` is `WAITS / WHY`, `last-by` is `LAST BY`. */
function isNamed(title: string, word: string): boolean {
  const name = plain(title)
  return name === plain(word) || title.toLowerCase().split(' / ').includes(word.toLowerCase())
}

function begins(title: string, word: string): boolean {
  return word !== '' && plain(title).startsWith(plain(word))
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z]/g, '')
}
