import type { StreamStore } from '../../store/store.ts'
import { BadDocument, type StreamFault } from '../../stream/errors.ts'
import { readSelected, type Selection } from '../selection.ts'
import { type DataExamination, dataFindings } from './data.ts'
import { bounded } from './finding.ts'
import { type Finding, streamFindings, unreadableFinding } from './stream.ts'

/** The outcome of examining one stream. */
export type ExaminedStream =
  | { readonly kind: 'examined'; readonly name: string; readonly findings: readonly Finding[] }
  /** There is no stream of this name. */
  | { readonly kind: 'missing'; readonly name: string }

/**
 * Examines the streams of a selection: names in the given order, each once; streams of a filter by name. Each document
 * is read once, and the data beside it is looked up; memory does not grow with their number. Streams of a filter that are removed meanwhile are left out.
 *
 * @throws the faults of the store, the signal's reason
 */
export async function* examineStreams(
  store: StreamStore,
  selection: Selection,
  options: DataExamination,
): AsyncGenerator<ExaminedStream> {
  const { signal } = options
  const examined = readSelected<ExaminedStream>(store, selection, { signal }, async view => ({
    kind: 'examined',
    name: view.name,
    findings: bounded([...streamFindings(view), ...(await dataFindings(store, view, options))]),
  }))
  for await (const item of examined) {
    if (item.kind === 'unreadable') {
      yield { kind: 'examined', name: item.stream, findings: [faultFinding(item.stream, item.cause)] }
    } else if ('name' in item) yield item
    else if (selection.kind !== 'filter') yield { kind: 'missing', name: item.stream }
  }
}

/** The finding for an unreadable stream. An invalid name is only a warning. */
function faultFinding(name: string, fault: StreamFault): Finding {
  if (fault instanceof BadDocument) return unreadableFinding(name, fault)
  const { code, what, hint } = fault
  return {
    severity: code === 'bad-name' ? 'warning' : 'error',
    code,
    subject: '',
    message: what,
    ...(hint === undefined ? {} : { hint }),
  }
}
