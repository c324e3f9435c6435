"""Bearings on the ground, for CLEVR's scenes."""

from vqagen.plugin import NODE, Undefined, attribute, constraint, function, relation


@function("Object", output="ObjectSet")
def alike(scene, anchor):
    """The other objects that have an attribute with an object in common."""
    return scene.everything & ~(1 << anchor)


@function("ObjectSet", output="Integer")
def spread(scene, objects):
    """How far apart the first and the last object of a set are counted."""
    if objects == 0:
        raise Undefined("spread of nothing")
    return objects.bit_length()


@attribute("Side", values=["west", "east"])
def side(thing, scene):
    """Which half of the picture an object is in."""
    return "west" if thing["3d_coords"][0] < 1 else "east"


@relation("touching")
def touching(thing, anchor, scene):
    """Whether two objects are close to each other."""
    return thing["size"] == anchor["size"]


@constraint("OUT_FAR", NODE, NODE)
def far_apart(left, right):
    """The two numbers differ by more than one."""
    return abs(left - right) > 1
