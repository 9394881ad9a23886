import { extname } from 'node:path'
import type { GlobalOptions } from '../../cli/options.ts'
import type { Output } from '../../cli/output.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { StreamStore } from '../../store/store.ts'
import { placeOf } from '../transfer/files.ts'
import type { TransferFlags } from '../transfer/flags.ts'
import { endpointUrl } from './otlp.ts'

/** Formats with one document per stream. */
export type DocumentFormat = 'xml' | 'json' | 'mermaid'
/** Formats with one document for all streams. */
export type TraceFormat = 'chrome' | 'otlp'

/** Where an export goes, and in which format. */
export type ExportTarget =
  | { readonly kind: 'stdout'; readonly format: DocumentFormat }
  | { readonly kind: 'folder'; readonly path: string; readonly format: DocumentFormat }
  | { readonly kind: 'store'; readonly address: string }
  | {
      readonly kind: 'traces'
      readonly format: TraceFormat
      /** `undefined` for stdout. */
      readonly to: { readonly file: string } | { readonly endpoint: URL } | undefined
    }

export interface TargetOptions {
  readonly output?: string
  readonly to?: string
  readonly endpoint?: string
  readonly replace?: boolean
  readonly skipExisting?: boolean
  readonly dryRun?: boolean
}

/** @throws UsageError if flags contradict each other; nothing is open by then */
export function exportTarget(options: TargetOptions): ExportTarget {
  const target = targetOf(options)
  const { replace, skipExisting, dryRun } = options
  const isFile = target.kind === 'traces' && target.to !== undefined && 'file' in target.to
  if (replace && target.kind !== 'folder' && target.kind !== 'store' && !isFile) throw needs('--replace', '--to')
  if (skipExisting && target.kind !== 'store') throw needs('--skip-existing', '--to with the address of a store')
  if (dryRun && target.kind !== 'store') throw needs('--dry-run', '--to with the address of a store')
  if (replace && skipExisting) throw new UsageError('--replace and --skip-existing are opposites')
  return target
}

function targetOf({ output: format = 'xml', to, endpoint }: TargetOptions): ExportTarget {
  if (endpoint !== undefined && to !== undefined) throw new UsageError('--to does not go with --endpoint')
  if (endpoint !== undefined && format !== 'otlp') {
    throw new UsageError('--endpoint needs -o otlp', { hint: 'A collector accepts no other format.' })
  }
  const place = to === undefined ? undefined : placeOf(to, '--to')
  if (format === 'chrome' || format === 'otlp') {
    if (place?.kind === 'store') throw notIntoStore(format)
    if (endpoint !== undefined) return { kind: 'traces', format, to: { endpoint: endpointUrl(endpoint) } }
    return { kind: 'traces', format, to: place && { file: place.path } }
  }
  const documents: DocumentFormat = format === 'json' || format === 'mermaid' ? format : 'xml'
  if (place === undefined) return { kind: 'stdout', format: documents }
  if (place.kind === 'store') {
    if (documents !== 'xml') throw notIntoStore(documents)
    return { kind: 'store', address: place.address }
  }
  return { kind: 'folder', path: folder(place.path), format: documents }
}

/** A path with the extension of a file is probably meant as a file, so it does not become a folder. */
function folder(path: string): string {
  if (!['.xml', '.json', '.mmd'].includes(extname(path).toLowerCase())) return path
  throw new UsageError(`--to ${path} looks like a file, but --to takes a folder`, {
    hint: `To write one stream to a file, use: > ${path}`,
  })
}

function notIntoStore(format: string): UsageError {
  return new UsageError(`-o ${format} cannot be written to a store`, { hint: 'A store holds XML: omit -o.' })
}

function needs(flag: string, other: string): UsageError {
  return new UsageError(`${flag} needs ${other}`)
}

/** Names of the selected streams. */
export type Names = Iterable<string> | AsyncIterable<string>

/** The input of every kind of export. */
export interface ExportRequest {
  readonly store: StreamStore
  readonly names: Names
  readonly options: GlobalOptions & TransferFlags
  readonly output: Output
  readonly runtime: Runtime
}
