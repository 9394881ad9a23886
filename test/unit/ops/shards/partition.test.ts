import { expect, test } from 'vitest'
import { isInPartition, parsePartition, partitionOfHost, readPartition } from '../../../../src/ops/shards/partition.ts'
import { shardOf } from '../../../../src/ops/shards/quota.ts'

test('a partition is a text of two numbers, counted from 0', () => {
  expect(parsePartition('0/1')).toEqual({ index: 0, count: 1 })
  expect(parsePartition('7/8')).toEqual({ index: 7, count: 8 })
})

test.each([
  ['8/8', 'there is no partition 8/8: partitions are numbered from 0 to 7'],
  ['1/1', 'there is only partition 0'],
  ['0/0', 'from 1 to 1024, not 0'],
  ['0/1025', 'from 1 to 1024, not 1025'],
  ['3', '"3" is not a partition'],
  ['-1/8', 'is not a partition'],
  ['1/8/2', 'is not a partition'],
])('%s is no partition', (text, message) => {
  expect(() => parsePartition(text)).toThrow(message)
})

test.each([
  ['pod-3', 3],
  ['3', 3],
  ['web-2-worker-7', 7],
  ['pod-3.orders.svc.cluster4.local', 3],
  ['pod-03b', 3],
])('the host %s is partition %i', (host, index) => {
  expect(partitionOfHost(host, 8)).toEqual({ index, count: 8 })
})

test('a host without a number, or with one that is too large, has no partition', () => {
  expect(() => partitionOfHost('web.zone2', 8)).toThrow('the host name "web.zone2" has no number')
  expect(() => partitionOfHost('pod-8', 8)).toThrow('is partition 8, but partitions are numbered from 0 to 7')
  expect(() => partitionOfHost('pod-99999999999', 8)).toThrow('is partition')
})

test('every stream is in one of the partitions, by the hash of shards', () => {
  for (const stream of ['orders/1', 'orders/2', 'ä', '']) {
    const homes = [0, 1, 2].filter(index => isInPartition(stream, { index, count: 3 }))
    expect(homes).toEqual([shardOf(stream, 3)])
  }
})

test('a program gives it as an object', () => {
  expect(readPartition({ index: 1, count: 2 }, 'options.partition')).toEqual({ index: 1, count: 2 })
  expect(() => readPartition({ index: 2, count: 2 }, 'options.partition')).toThrow('there is no partition 2/2')
  expect(() => readPartition('1/2', 'options.partition')).toThrow('options.partition is an object with index, count')
})
