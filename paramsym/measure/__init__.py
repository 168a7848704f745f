"""What a layer costs beyond its parameters: shapes, neurons, connections."""
