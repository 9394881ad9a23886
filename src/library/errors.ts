import { LeasectlError } from '../stream/errors.ts'

/** A `must…` function did not find the event. */
export class EventNotFound extends LeasectlError {
  readonly code = 'event-not-found'
  readonly stream: string
  /** The id or the XPath that found nothing. */
  readonly sought: string

  constructor(stream: string, sought: string) {
    super(`${stream}: there is no event ${sought}`)
    this.stream = stream
    this.sought = sought
  }
}

/** The store has no inbox of this name. */
export class InboxNotFound extends LeasectlError {
  readonly code = 'inbox-not-found'

  /** @internal */
  constructor(inbox: string, address: string) {
    super(`there is no inbox ${inbox} in ${address}`)
  }
}

/** A `must…` function did not find the stream. */
export class StreamNotFound extends LeasectlError {
  readonly code = 'stream-not-found'
  readonly stream: string

  /** @internal */
  constructor(stream: string, address: string) {
    super(`there is no stream ${stream} in ${address}`)
    this.stream = stream
  }
}
