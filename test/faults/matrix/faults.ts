import type { Fault } from '../../support/fault-proxy.ts'

/** The faults of a request, in the words of the page; each in all its forms. */
export const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'request lost': [{ kind: 'lose-request' }, { kind: 'lose-request', silent: true }],
  'answer lost': [{ kind: 'lose-answer' }, { kind: 'lose-answer', silent: true }],
  'answer late': [{ kind: 'answer-late' }],
  'duplicate now': [{ kind: 'duplicate' }],
  'duplicate after the next write': [{ kind: 'duplicate-late' }],
  '500 before': [{ kind: 'error-before', status: 500 }],
  '500 after': [{ kind: 'error-after', status: 500 }],
  '503 with Retry-After': [{ kind: 'error-before', status: 503, retryAfterS: 1 }],
  'forged answer': [200, 302, 403, 404, 407, 511].map(status => ({ kind: 'forged-before', status })),
  'forged answer, applied': [200, 400, 403, 404, 409, 412].map(status => ({ kind: 'forged-after', status })),
  truncated: [{ kind: 'truncate' }, { kind: 'truncate', silent: true }],
  reset: [{ kind: 'reset' }],
  'wrong length': [
    { kind: 'wrong-length', claims: 'more' },
    { kind: 'wrong-length', claims: 'less' },
  ],
  'dead idle socket': [{ kind: 'dead-socket' }, { kind: 'dead-socket', silent: true }],
}

const { 'wrong length': wrongLength = [], ...others } = FAULTS

/** The permanent ones: here the direction of the wrong length matters. */
export const LASTING: typeof FAULTS = {
  ...others,
  'wrong length, promises more': wrongLength.filter(({ claims }) => claims === 'more'),
  'wrong length, promises less': wrongLength.filter(({ claims }) => claims === 'less'),
}

/** In one line, for messages. */
export function formOf({ kind, silent, claims, status }: Fault): string {
  return [kind, silent ? 'silent' : '', claims ?? '', status === undefined ? '' : String(status)]
    .filter(word => word !== '')
    .join(' ')
}
