import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { Excerpt } from '../../../../src/watchdog/hooks/attempt.ts'
import { type HookTarget, hookKey, labelOf, SigningSecret } from '../../../../src/watchdog/hooks/target.ts'

describe('an excerpt', () => {
  test('keeps the beginning, as one line without escape sequences', () => {
    const excerpt = new Excerpt(12)
    for (const part of ['\u001b[31mab\n', 'cdefgh', 'never']) excerpt.add(Buffer.from(part))
    expect(excerpt.text()).toBe('ab␊cdef')
    expect(excerpt.isFull).toBe(true)
  })
})

describe('a signing secret', () => {
  const KEY = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

  test('signs as Standard Webhooks specifies', () => {
    // the vector in the tests of the libraries of https://github.com/standard-webhooks/standard-webhooks
    const secret = SigningSecret.read(`whsec_${KEY}\n`)
    if (typeof secret === 'string') throw new Error(secret)
    expect(secret.sign('msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}')).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })

  test.each(['', '  \n', 'short', 'whsec_', 'whsec_!!!', `whsec_${'A'.repeat(8)}`])('is invalid in %j', text => {
    expect(typeof SigningSecret.read(text)).toBe('string')
  })

  test('is never shown', () => {
    const secret = SigningSecret.read('plain-text-secret-1234')
    const shown = [inspect(secret, { showHidden: true, depth: 9 }), JSON.stringify(secret), String(secret)].join()
    expect(shown).not.toContain('plain')
    expect(shown).not.toContain(Buffer.from('plain-text').toString('hex').slice(0, 8))
    expect(SigningSecret.read('tiny')).not.toContain('tiny')
  })
})

describe('a hook target', () => {
  const limits = { timeoutMs: 1, tries: 1 }
  const command: HookTarget = { kind: 'command', argv: ['/bin/page', '--token', 'canary'], ...limits }
  const webhook: HookTarget = { kind: 'webhook', url: 'https://h.example/T0/canary?key=canary', ...limits }

  test('is named without possible secrets', () => {
    expect([command, webhook].map(labelOf)).toEqual(['/bin/page', 'https://h.example'])
  })

  test('has one key, whatever its limits, and another for other kinds, arguments and streams', () => {
    const same = hookKey('done', command, undefined)
    expect(hookKey('done', { ...command, timeoutMs: 9, tries: 9 }, undefined)).toBe(same)
    expect(same).toMatch(/^[0-9a-f]{16}$/)
    const others = [
      hookKey('failed', command, undefined),
      hookKey('done', { ...command, argv: ['/bin/page'] }, undefined),
      hookKey('done', command, 'orders/**'),
      hookKey('done', webhook, undefined),
    ]
    expect(new Set([same, ...others]).size).toBe(5)
  })
})
