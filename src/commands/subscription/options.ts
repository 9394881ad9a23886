import type { GlobalOptions } from '../../cli/options.ts'
import type { StartPoint } from '../subscribe/options.ts'

export type ListSubscriptionsOptions = GlobalOptions

export interface ShowSubscriptionOptions extends GlobalOptions {
  readonly name: string
}

export interface ParkedOptions extends ShowSubscriptionOptions {
  /** Also the streams that are tried again by themselves. */
  readonly waiting?: boolean
}

export interface SubscriptionRequestOptions extends ShowSubscriptionOptions {
  readonly by?: string
  /** How long to wait until it is applied, ms. */
  readonly within?: number
}

export interface RetryOptions extends SubscriptionRequestOptions {
  readonly streams?: readonly string[]
  readonly all?: boolean
}

export interface SkipTransactionOptions extends SubscriptionRequestOptions {
  readonly stream: string
  /** Everything up to this version is left out. */
  readonly to?: number
}

export interface ResetOptions extends SubscriptionRequestOptions {
  readonly from: StartPoint
  readonly yes?: boolean
}

export interface RemoveSubscriptionOptions extends ShowSubscriptionOptions {
  readonly yes?: boolean
}
