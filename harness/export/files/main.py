

def read_array(array, folder):
    path = f"{folder}/{array['name']}.npy"
    try:
        data = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        return None
    if data.dtype.itemsize != array["size"] or list(data.shape) != array["dims"]:
        sys.exit(f"{path}: has other elements than the case")
    return np.ascontiguousarray(data)


def bits_of(data):
    return data.reshape(-1).view(f"u{data.dtype.itemsize}")


def element_text(array, bits):
    text = f"0x{int(bits):0{2 * array['size']}x}"
    if array["type"] in ("f32", "f64"):
        text += f" ({np.array(bits).reshape(1).view(TYPES[array['type']])[0]:.17g})"
    return text


def compare_with(array, computed, folder, what):
    """Is what FOLDER/NAME.npy has of other bits?"""
    other = read_array(array, folder)
    if other is None:
        return False
    ours, theirs = bits_of(computed), bits_of(other)
    places = np.flatnonzero(ours != theirs)
    if not len(places):
        print(f"{array['name']}: equal to what was {what}")
        return False
    place = [int(i) for i in np.unravel_index(places[0], computed.shape)]
    print(f"{array['name']}: {len(places)} of {len(ours)} elements are not what was {what}; the first is {place}: "
          f"computed {element_text(array, ours[places[0]])}, {what} {element_text(array, theirs[places[0]])}")
    if array["type"] in ("f32", "f64"):
        apart = np.abs(computed.astype(np.float64).reshape(-1) - other.astype(np.float64).reshape(-1))
        print(f"{array['name']}: they are at most {np.max(apart[places]):.3g} apart")
    return True


def main():
    import hashlib
    arrays, differs = [], False
    for array in INPUTS:
        data = read_array(array, "inputs")
        if data is None:
            sys.exit(f"there is no inputs/{array['name']}.npy here")
        arrays.append(data.view(TYPES[array["type"]]))
    results = [np.zeros(array["dims"], TYPES[array["type"]]) for array in OUTPUTS]
    results = run(arrays, results)
    for array, computed in zip(OUTPUTS, results):
        digest = hashlib.sha256(computed.tobytes()).hexdigest()
        recorded = array["recorded"]
        print(f"{array['name']}: sha256 {digest}" + ("" if not recorded else ", as recorded" if recorded == digest else ", not as recorded"))
        differs |= bool(recorded) and recorded != digest
        differs |= compare_with(array, computed, "expected", "expected")
        differs |= compare_with(array, computed, "actual", "recorded")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
