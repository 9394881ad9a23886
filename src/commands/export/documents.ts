import { errorProblem } from '../../cli/error-problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { exportJson } from '../../formats/stream/json.ts'
import { mermaidOf } from '../../formats/stream/mermaid.ts'
import { shownStream } from '../../formats/stream/view.ts'
import { type StreamView, viewOf } from '../../ops/read-stream.ts'
import type { StreamSnapshot, StreamStore } from '../../store/store.ts'
import { BadDocument } from '../../stream/errors.ts'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import type { Extension } from '../transfer/file-names.ts'
import { problemOutcome, type TransferOutcome } from '../transfer/outcome.ts'
import type { DocumentFormat } from './target.ts'

export const EXTENSION_OF: { readonly [Format in DocumentFormat]: Extension } = {
  xml: '.xml',
  json: '.json',
  mermaid: '.mmd',
}

/** A stream as one document. As XML it is the stored document, byte for byte. */
export function documentOf(view: StreamView, format: DocumentFormat): Uint8Array {
  switch (format) {
    case 'xml':
      return view.stored.body
    case 'json':
      return Buffer.from(jsonDocument(exportJson(shownStream(view), view)))
    case 'mermaid':
      return Buffer.from(mermaidOf(shownStream(view)))
    default:
      return format satisfies never
  }
}

/** The result of reading a stream once. */
export type Loaded =
  | { readonly kind: 'view'; readonly view: StreamView }
  /** The document cannot be parsed. `isWhole`: all bytes were read; a store truncates documents above the size limit. */
  | {
      readonly kind: 'unreadable'
      readonly stored: StreamSnapshot
      readonly isWhole: boolean
      readonly error: BadDocument
    }
  | { readonly kind: 'gone' }

export async function load(store: StreamStore, name: string, signal?: AbortSignal): Promise<Loaded> {
  const stored = await store.read(name, signal)
  if (stored === undefined) return { kind: 'gone' }
  try {
    return { kind: 'view', view: viewOf(stored, store.nowMs()) }
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    return { kind: 'unreadable', stored, isWhole: stored.body.length <= MAX_READ_BYTES, error }
  }
}

/** True if the bytes of an unreadable document are exported unchanged. */
export function isCopied(loaded: Extract<Loaded, { readonly kind: 'unreadable' }>, format: string): boolean {
  return format === 'xml' && loaded.isWhole
}

export function unreadableOutcome(stream: string, error: BadDocument, runtime: Runtime): TransferOutcome {
  return problemOutcome('failed', stream, errorProblem(error, runtime))
}
