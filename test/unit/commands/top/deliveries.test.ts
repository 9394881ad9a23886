import { expect, test } from 'vitest'
import { parkedOf } from '../../../../src/subscriptions/read.ts'
import { subscribed } from '../../../docs/json-subscriptions.ts'
import { cli, type World } from '../support.ts'
import { carry, look, portsOver } from './support.ts'

const A = [{ stream: 'a', subscription: 'billing' }]
const halted = async ({ store }: World) =>
  (await parkedOf(store, 'billing'))?.map(({ stream, state }) => `${stream} ${state}`)

test('the preview of a retry names the stream, why it is halted, and the same command', async () => {
  const preview = await look(await portsOver(await subscribed()), 'retry-delivery', A)
  expect(preview).toMatchObject({
    question: 'This tries a of the subscription billing again now',
    count: 1,
    confirm: { kind: 'yes' },
  })
  expect(preview.affected[0]).toMatch(/^a {2}parked for \d+s after version 0, 1 failed try: no card$/)
  expect(preview.command('')).toBe('leasectl subscription retry billing a')
})

test('a parked stream is tried again', async () => {
  const world = await subscribed()
  const ports = await portsOver(world)
  const { outcomes } = await carry(ports, await look(ports, 'retry-delivery', A))
  expect(outcomes).toEqual([{ target: { stream: 'a' }, word: 'done', isGood: true, text: 'is tried again' }])
  expect(await halted(world)).toEqual(['a waiting', 'b waiting'])
})

test('the transaction that failed is skipped', async () => {
  const world = await subscribed()
  const ports = await portsOver(world)
  const preview = await look(ports, 'skip-delivery', A)
  expect(preview.facts).toContain('The handler never gets that transaction; those after it follow.')
  const { outcomes } = await carry(ports, preview)
  expect(outcomes).toMatchObject([{ word: 'done', text: 'goes on after version 1' }])
  expect(await halted(world)).not.toContain('a parked')
})

test('what is halted at another transaction since, or no more, is not changed', async () => {
  const world = await subscribed()
  const ports = await portsOver(world)
  const preview = await look(ports, 'skip-delivery', A)
  await cli(world, ['subscription', 'skip', 'billing', 'a'])
  const { outcomes } = await carry(ports, preview)
  expect(outcomes).toMatchObject([{ word: expect.stringMatching(/already|changed/) }])
  const later = await look(ports, 'retry-delivery', [{ stream: 'gone', subscription: 'billing' }])
  expect(later).toMatchObject({ count: 0, facts: ['1 stream no longer halted, left out'] })
})

test('a reset asks for the name, and hands everything over again', async () => {
  const world = await subscribed()
  const ports = await portsOver(world)
  const preview = await look(ports, 'reset', [{ stream: 'billing', subscription: 'billing' }])
  expect(preview).toMatchObject({ count: 1, confirm: { kind: 'type', text: 'billing' } })
  expect(preview.command('')).toBe('leasectl subscription reset billing --from start --yes')
  const { outcomes } = await carry(ports, preview)
  expect(outcomes).toMatchObject([{ word: 'done', text: 'everything is handed over again' }])
  expect(await halted(world)).toEqual([])
})
