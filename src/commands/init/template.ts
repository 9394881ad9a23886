import type { EventData } from '../../stream/data.ts'
import type { EventSpec, OnDue, OnFailure, StepSpec } from '../../stream/operations/operation.ts'

/** A template of `init --from`: the attributes of the root, its first fork, and its plan. */
export interface Template {
  readonly root?: string
  readonly topic?: string
  readonly key?: string
  readonly tag?: string
  readonly ref?: string
  readonly trackingId?: string
  readonly timeout?: string
  readonly onDue?: OnDue
  /** Input of the root. */
  readonly data?: EventData
  readonly fork?: readonly EventSpec[]
  readonly join?: EventSpec
  readonly steps?: readonly StepSpec[]
  readonly hold?: boolean
  readonly onFailure?: OnFailure
  /** Of the root. */
  readonly retry?: string
  readonly attemptTimeout?: string
  readonly undo?: string
}
