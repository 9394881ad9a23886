import type { StreamView } from '../../ops/read-stream.ts'
import { transactionJson } from '../journal.ts'
import { showJson } from './json.ts'
import type { ShownStream } from './view.ts'

/** A stream as `export -o json` writes it: as `show -o json`, and its history. For reading: import takes the XML. */
export function exportJson(shown: ShownStream, view: StreamView) {
  return {
    ...showJson(shown),
    born: view.document.born === '' ? null : view.document.born,
    transactions: view.transactions().map(tx => transactionJson(view.name, tx, tx.provisional)),
  }
}
