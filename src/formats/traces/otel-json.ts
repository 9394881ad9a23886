/**
 * The part of OTLP's JSON that traces need (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): names in
 * lowerCamelCase, ids as hex, 64-bit integers as decimal texts, enums as numbers.
 */

export interface KeyValue {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly boolValue: boolean }
}

export interface OtelSpan {
  readonly traceId: string
  readonly spanId: string
  /** Absent for the root of the trace. */
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly events: readonly {
    readonly timeUnixNano: string
    readonly name: string
    readonly attributes: readonly KeyValue[]
  }[]
  readonly links: readonly {
    readonly traceId: string
    readonly spanId: string
    readonly attributes: readonly KeyValue[]
  }[]
  /** How many links there were beyond those. Absent for none. */
  readonly droppedLinksCount?: number
  readonly status: { readonly code?: number; readonly message?: string }
}

export interface ResourceSpans {
  readonly resource: { readonly attributes: readonly KeyValue[] }
  readonly scopeSpans: readonly {
    readonly scope: { readonly name: string; readonly version: string }
    readonly spans: readonly OtelSpan[]
  }[]
}

export const STATUS_CODE = { ok: 1, error: 2 } as const

/** Attributes of what is there: absent and empty values are left out. */
export function keyValues(values: Readonly<Record<string, string | number | boolean | undefined>>): KeyValue[] {
  return Object.entries(values).flatMap(([key, value]): KeyValue[] => {
    if (value === undefined || value === '') return []
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }]
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }]
    return [{ key, value: { intValue: String(value) } }]
  })
}

/** Nanoseconds, more than a JSON number holds. */
export function unixNano(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n)
}
