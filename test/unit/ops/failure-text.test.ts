import { expect, test } from 'vitest'
import { normalizeFailure } from '../../../src/ops/failure-text.ts'

test.each([
  ['order 4711: timeout', 'order #: timeout'],
  ['timeout after 31.5 s (attempt 3/10)', 'timeout after # s (attempt #)'],
  ['no route to 10.0.0.17:443', 'no route to #'],
  ['parcel 3ebaae6d-8aeb-47e0-9f0d-58514bd34aed is gone', 'parcel # is gone'],
  ['due 2026-11-20T12:00:00.000Z, now 2026-11-21 08:15', 'due #, now #'],
  ['etag 0x8DD0A1B2C3D4E5F differs from deadbeef01', 'etag # differs from #'],
  ['worker-7@aks-3 died', 'worker-#@aks-# died'],
  ['  two\n lines\t3 ', 'two lines #'],
  ['plain words, deadbeef and café', 'plain words, deadbeef and café'],
  ['', ''],
])('%j loses the parts that differ between streams: %j', (text, shape) => {
  expect(normalizeFailure(text)).toBe(shape)
})

test.each([
  'HTTP 503',
  'HTTP/1.1 404 Not Found',
  'status 500',
  'Status: 429',
  'exit code 137',
  'exit=2',
  'errno 111',
  'signal 9',
])('%j keeps its code, which identifies the failure', text => {
  expect(normalizeFailure(text)).toBe(text)
})

test('a long text of digits and dots is fast', () => {
  expect(normalizeFailure('1.'.repeat(100_000)).length).toBeLessThan(10)
})
