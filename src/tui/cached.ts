/** A function of an object that is computed once per object. */
export function cached<Key extends object, Value extends object | string>(
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return key => {
    const known = values.get(key)
    if (known !== undefined) return known
    const value = compute(key)
    values.set(key, value)
    return value
  }
}
