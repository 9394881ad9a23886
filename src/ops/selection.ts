import type { EventStore } from '../store/store.ts'
import type { StreamFilter } from './filter.ts'
import { type SummarizedStream, summaries, summaryOf } from './summaries.ts'

/** The streams a command is about: named one by one, or all that pass a filter. */
export type Selection =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** Names from a file or standard input: a batch like a filter, but each name has to exist. */
  | { readonly kind: 'list'; readonly names: readonly string[] }
  | { readonly kind: 'filter'; readonly filter: StreamFilter }

/** What stands behind a selection now. */
export type SelectedPage = {
  readonly found: readonly SummarizedStream[]
  /** Names that nothing has. */
  readonly missing: readonly string[]
}

/** At most so many streams are read at a time. */
const READS_AT_ONCE = 8

/** The streams of a selection, page by page: names in the order given, each once; those of a filter by name. */
export async function* selected(
  store: EventStore,
  selection: Selection,
  signal?: AbortSignal,
): AsyncGenerator<SelectedPage> {
  if (selection.kind === 'filter') {
    for await (const found of summaries(store, selection.filter, signal === undefined ? {} : { signal })) {
      yield { found, missing: [] }
    }
    return
  }
  const names = [...new Set(selection.names)]
  for (let at = 0; at < names.length; at += READS_AT_ONCE) {
    const part = names.slice(at, at + READS_AT_ONCE)
    const read = await Promise.all(part.map(name => summaryOf(store, { name }, signal)))
    yield {
      found: read.filter(item => item !== undefined),
      missing: part.filter((_, index) => read[index] === undefined),
    }
  }
}
