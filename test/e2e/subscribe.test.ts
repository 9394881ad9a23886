import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sized } from '../guarantees/size.ts'
import { newUser, type Running, type User } from './program.ts'

let user: User
beforeEach(async () => {
  user = await newUser()
})
afterEach(() => user.leave())

const env = () => ({ LEASECTL_STORE: `sqlite:${join(user.home, 'a.db')}`, TMPDIR: user.home })

/** A subscription whose handler is this shell script. */
function subscribe(script: string, flags: readonly string[] = []): Running {
  writeFileSync(join(user.home, 'handle'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const words = ['subscribe', '--as', 'b', '--match', 'orders/**', '--from', 'start', '--interval', '100ms', ...flags]
  return user.start([...words, '--', join(user.home, 'handle')], env())
}

const init = async (...names: readonly string[]) => {
  const script = names.map(name => `leasectl init ${name} -q`).join('\n')
  expect(await user.shell(script, env()).ended).toMatchObject({ code: 0, stderr: '' })
}

/** Number of streams that the filter selects. */
async function countOf(...filter: readonly string[]): Promise<number> {
  const { stdout } = await user.run(['ls', ...filter, '-o', 'name'], env())
  return stdout.split('\n').filter(name => name !== '').length
}

const lines = (file: string) => readFileSync(join(user.home, file), 'utf8').trim().split('\n')

test('a saga whose process is killed again and again sends each command with one effect', {
  timeout: sized(240_000, 1_200_000),
}, async () => {
  const orders = Array.from({ length: sized(12, 60) }, (_, at) => `orders/${at}`)
  await init(...orders)
  const saga = `echo "$LEASECTL_STREAM" >> ran
cat >> "$LEASECTL_COMMANDS" <<END
{"do":"init","stream":"inv/$LEASECTL_STREAM","root":"Invoice"}
{"do":"set","stream":"$LEASECTL_STREAM","event":"00","attributes":{"tag":"billed"}}
END`
  const flags = ['--op', 'init', '--concurrency', '2']
  for (let kills = 0; kills < sized(2, 12); kills++) {
    const doomed = subscribe(saga, flags)
    await doomed.until('stderr', /^handled /m)
    doomed.process.kill('SIGKILL')
    await doomed.ended
  }
  const last = subscribe(saga, flags)
  await expect.poll(() => countOf('--match', 'inv/**'), { timeout: 120_000 }).toBe(orders.length)
  await expect.poll(() => countOf('--tag', 'billed'), { timeout: 60_000 }).toBe(orders.length)
  last.process.kill('SIGTERM')
  expect(await last.ended).toMatchObject({ code: 0 })
  for (const order of orders) {
    const { stdout } = await user.run(['log', order, `inv/${order}`, '-o', 'ndjson'], env())
    const sent = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).commandId)
      .filter(id => String(id).startsWith('saga:'))
    expect(sent).toHaveLength(2)
    expect(new Set(sent).size).toBe(2)
  }
  // a delivery that came again is what was tested
  expect(lines('ran').length).toBeGreaterThanOrEqual(orders.length)
})

test('a first signal lets the handler finish, a second ends it', async () => {
  await init('orders/1')
  const draining = subscribe('echo up; sleep 1; echo over >> ran')
  await draining.until('stdout', /up/)
  draining.process.kill('SIGTERM')
  expect(await draining.ended).toMatchObject({ code: 0 })
  expect(lines('ran')).toEqual(['over'])
  await init('orders/2')
  const ending = subscribe('echo up; sleep 600')
  await ending.until('stdout', /up/)
  ending.process.kill('SIGTERM')
  await ending.until('stderr', /^-- draining/m)
  ending.process.kill('SIGTERM')
  expect((await ending.ended).code).toBe(143)
  await expect.poll(() => user.processesWith(join(user.home, 'handle')), { timeout: 20_000 }).toEqual([])
})

test('a handler that prints a lot and leaves children behind is handled', async () => {
  await init('orders/1')
  const noisy = subscribe('head -c 20000000 /dev/zero | tr "\\\\0" x >&2; sleep 3 > /dev/null & exit 0', ['-q'])
  await expect
    .poll(
      async () =>
        JSON.parse((await user.run(['subscription', 'show', 'b', '-o', 'json'], env())).stdout || '{}').delivered,
      {
        timeout: 60_000,
      },
    )
    .toBe(1)
  noisy.process.kill('SIGTERM')
  expect(await noisy.ended).toMatchObject({ code: 0 })
})
