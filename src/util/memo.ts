/**
 * Keeps what is computed from an immutable object with the object itself, in a property that is not enumerable: copies
 * (`{ ...object }`), comparisons and JSON do not see it. For objects that change hands thousands of times a second a
 * `WeakMap` costs ten times as much.
 *
 * @param create the empty memo of an object; with all fields, so that all memos have one shape
 * @returns gives the memo of an object, made at the first call
 */
export function memoFor<Key extends object, Memo extends object>(create: () => Memo): (key: Key) => Memo {
  const memo = Symbol('memo')
  return key => {
    const known = (key as { readonly [memo]?: Memo })[memo]
    if (known !== undefined) return known
    const value = create()
    // A frozen object gets a new one at each call.
    Reflect.defineProperty(key, memo, { value })
    return value
  }
}
